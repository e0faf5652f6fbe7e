import base from "../../bindings-wasm/eslint.config.js";

export default [
  ...base,
  {
    files: ["**/*.ts", "**/*.tsx"],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
  },
  {
    // Functions that a test passes to the page run in the page.
    files: ["tests/browser.test.mjs"],
    languageOptions: {
      globals: { document: "readonly", innerWidth: "readonly", localStorage: "readonly", location: "readonly" },
    },
  },
];
