/** The shop: the resource that the lock guards. */

import type { JSX } from "preact";

import type { Act } from "../story/actions.js";
import { STOCK, type ShopView, pairs } from "../story/shop.js";
import { counted } from "../story/words.js";

interface Props {
  shop: ShopView;
  /** The lock that guards it. */
  guard: string;
  act: Act;
}

export function Shop({ shop, guard, act }: Props): JSX.Element {
  const { checks, stock, highest, sales, refused, oversold } = shop;
  return (
    <section aria-labelledby="the-shop">
      <h2 id="the-shop">The shop</h2>
      <p>
        The shop has {pairs(STOCK)} of shoes. The holder of the {guard} reads the stock, and then sells: it writes the
        stock that it has read, less one.
      </p>
      <p>
        <label>
          <input type="checkbox" checked={checks} onChange={() => act({ verb: "check", on: !checks })} /> Check the
          fence: refuse requests with a lower fence than the highest one so far
        </label>
      </p>
      <ul data-shop>
        <li>Stock that is written: {pairs(stock)}</li>
        <li>Highest fence: {highest === null ? "none" : String(highest)}</li>
        <li>
          Sold: {pairs(sales.length)}
          {sales.map(({ who, fence }) => `, by ${who} with fence ${fence}`).join("")}
        </li>
        <li>Refused: {counted(refused, "request")}</li>
        <li class={oversold > 0 ? "problem" : ""}>
          Oversold: {pairs(oversold)}
          {oversold > 0 ? " that the shop never had" : ""}
        </li>
      </ul>
    </section>
  );
}
