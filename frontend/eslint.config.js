import js from '@eslint/js'
import reactHooks from 'eslint-plugin-react-hooks'
import globals from 'globals'
import typescript from 'typescript-eslint'

/** Imports run downward only: app > features > shared > live > api > dag. Features do not know one another; canvas is theirs together. */
const fence = (files, regexes) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: regexes.map(([regex, message]) => ({ regex, message })) }] },
})
const above = (...folders) => [`^(\\.\\./)+(${folders.join('|')})/`, 'Imports run downward only: app > features > shared > live > api > dag.']
const barrel = ['^\\.{1,2}(/\\.\\.)*/?$', 'There are no barrels: import the file.']
const otherFeature = (up) => [`^${'\\.\\./'.repeat(up)}(?!canvas/|\\.\\.)`, 'Features do not import one another (canvas excepted).']

export default typescript.config(
  { ignores: ['dist', 'node_modules', 'src/api/schema.gen.ts'] },
  js.configs.recommended,
  ...typescript.configs.strict,
  reactHooks.configs.flat['recommended-latest'],
  {
    languageOptions: { globals: globals.browser },
    rules: { 'max-lines': ['error', { max: 300 }], 'no-console': 'error', '@typescript-eslint/no-non-null-assertion': 'error' },
  },
  fence(['src/dag/**'], [above('app', 'features', 'shared', 'live', 'api'), barrel]),
  fence(['src/api/**'], [above('app', 'features', 'shared', 'live'), barrel]),
  fence(['src/live/**'], [above('app', 'features', 'shared'), barrel]),
  fence(['src/shared/**'], [above('app', 'features'), barrel]),
  fence(['src/features/*/*'], [above('app'), barrel, otherFeature(1)]),
  fence(['src/features/*/*/**'], [above('app'), barrel, otherFeature(2)]),
)
