/** Puts the playground into its place in the page `playground.html`. */

import "./style.css";

import { load } from "fencepost/hub";
import { render } from "preact";

import { App } from "./app.js";

const place = document.getElementById("fencepost-playground");
if (place !== null) {
  // mdBook's script changes the page on arrow keys, and opens its search on letters.
  place.addEventListener("keydown", (event) => {
    event.stopPropagation();
  });
  try {
    await load("memory");
    place.replaceChildren();
    render(<App />, place);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const problem = document.createElement("p");
    problem.setAttribute("role", "alert");
    problem.textContent = `The playground could not start: ${text}`;
    place.replaceChildren(problem);
  }
}
