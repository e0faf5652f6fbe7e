import js from "@eslint/js";
import ts from "typescript-eslint";

export default ts.config(
  { ignores: ["dist/**", ".build/**", "node_modules/**"] },
  js.configs.recommended,
  ...ts.configs.strictTypeChecked,
  ...ts.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ["eslint.config.js"] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // A callback may return the result of a call that returns nothing.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreVoidReturningFunctions: true }],
      // Numbers are meant to be shown.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allow: ["bigint"] }],
      // A signal's reason may be anything, and is passed on as it is.
      "@typescript-eslint/prefer-promise-reject-errors": [
        "error",
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      "@typescript-eslint/only-throw-error": ["error", { allowThrowingAny: true, allowThrowingUnknown: true }],
      // The test runner waits for its tests itself.
      "@typescript-eslint/no-floating-promises": [
        "error",
        {
          allowForKnownSafeCalls: [
            { from: "package", package: "node:test", name: ["describe", "it", "test", "before", "after"] },
          ],
        },
      ],
    },
  },
  {
    files: ["js/**"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: "BinaryExpression[operator='instanceof'][right.name=/^(Error|Uint8Array)$/]",
          message: "Use isError and isBytes of realms.ts: the values of Node.js may be of another realm.",
        },
      ],
    },
  },
  {
    files: ["scripts/*.mjs", "eslint.config.js", "**/*.mjs"],
    ...ts.configs.disableTypeChecked,
    languageOptions: {
      parserOptions: { projectService: false },
      globals: {
        AbortController: "readonly",
        AbortSignal: "readonly",
        Buffer: "readonly",
        TextDecoder: "readonly",
        DOMException: "readonly",
        Event: "readonly",
        EventTarget: "readonly",
        URL: "readonly",
        clearTimeout: "readonly",
        console: "readonly",
        crypto: "readonly",
        performance: "readonly",
        process: "readonly",
        setTimeout: "readonly",
      },
    },
  },
);
