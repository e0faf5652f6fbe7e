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
      // Numbers are meant to be shown.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allow: ["bigint"] }],
      // `void promise` says that nobody waits.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-meaningless-void-operator": "off",
    },
  },
  {
    files: ["scripts/*.mjs", "eslint.config.js", "**/*.mjs"],
    ...ts.configs.disableTypeChecked,
    languageOptions: { globals: { console: "readonly", process: "readonly", URL: "readonly", Buffer: "readonly" } },
  },
);
