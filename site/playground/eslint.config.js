import base from "../../bindings-wasm/eslint.config.js";

export default [
  ...base,
  {
    files: ["**/*.ts", "**/*.tsx"],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
  },
  {
    // What a test hands to the page runs there.
    files: ["tests/browser.test.mjs"],
    languageOptions: {
      globals: { document: "readonly", innerWidth: "readonly", localStorage: "readonly", location: "readonly" },
    },
  },
];
