import { useTranslation } from 'react-i18next'
import { said } from '../../../api/sentences/said'
import type { PipelineTestResult, RowDifferences } from '../../../api/types'
import type { PipelineTest } from '../../../dag/document'
import { StateGlyph } from '../../../shared/state-glyph'
import { CodePrinted } from '../code-printed'
import { useDocument } from '../editor-store'
import { outletWords } from './test-form'
import { useShown, type ShownStatus } from './tests-store'

const LONGEST = 200
/** What differs is what one came for. */
const LONGEST_DIFFERENT = 1000

export const GLYPHS: Record<ShownStatus, string> = { passed: 'completed', failed: 'failed', error: 'warning', running: 'running', none: 'expired' }

const textOf = (value: unknown, longest = LONGEST) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

const full = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value ?? null)).slice(0, 2000)

/** Two texts from shortly before they begin to differ, which is what one looks for in long ones. */
function fromDifference(one: string, other: string): [string, string] {
  let same = 0
  while (same < one.length && one[same] === other[same]) same += 1
  const text = (whole: string) => (same < 24 ? textOf(whole, LONGEST_DIFFERENT) : `…${textOf(whole.slice(same - 12), LONGEST_DIFFERENT)}`)
  return [text(one), text(other)]
}

function Cell({ value }: { value: unknown }) {
  return (
    <td title={full(value)}>
      <div>{textOf(value)}</div>
    </td>
  )
}

function Differs({ expected, actual }: { expected: string; actual: string }) {
  const { t } = useTranslation('canvas')
  const [was, came] = fromDifference(expected, actual)
  return (
    <td className="pw-tests-cell-differs" title={`${expected}\n${actual}`}>
      <del><small>{t('tests.was')}</small><span>{was}</span></del>
      <ins><small>{t('tests.came')}</small><span>{came}</span></ins>
    </td>
  )
}

interface RowsProps {
  kind: 'missing' | 'unexpected'
  count: number
  columns: string[]
  rows: Record<string, unknown>[]
}

function Kind({ kind, count, shown }: { kind: 'missing' | 'unexpected' | 'differing'; count: number; shown: number }) {
  const { t } = useTranslation('canvas')
  return (
    <p className="pw-tests-kind">
      {t(`tests.${kind}`, { count })}
      {count > shown && ` · ${t('tests.shown', { count: shown })}`}
    </p>
  )
}

function Head({ columns }: { columns: string[] }) {
  return (
    <thead>
      <tr>{columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr>
    </thead>
  )
}

function Rows({ kind, count, columns, rows }: RowsProps) {
  const { t } = useTranslation('canvas')
  if (count === 0) return null
  return (
    <>
      <Kind kind={kind} count={count} shown={rows.length} />
      <div className="pw-tests-scroll" role="region" aria-label={t(`tests.${kind}`, { count })} tabIndex={0}>
        <table>
          <Head columns={columns} />
          <tbody>
            {rows.map((row, place) => (
              <tr key={place} className={`pw-tests-${kind}`}>
                {columns.map((name) => <Cell key={name} value={row[name]} />)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function Differing({ found, columns }: { found: RowDifferences; columns: string[] }) {
  const { t } = useTranslation('canvas')
  if (found.differing_rows === 0) return null
  return (
    <>
      <Kind kind="differing" count={found.differing_rows} shown={found.differing.length} />
      <div className="pw-tests-scroll" role="region" aria-label={t('tests.differing', { count: found.differing_rows })} tabIndex={0}>
        <table>
          <Head columns={columns} />
          <tbody>
            {found.differing.map((row, place) => (
              <tr key={place}>
                {columns.map((name) =>
                  row.columns.includes(name) ? (
                    <Differs key={name} expected={full(row.expected[name])} actual={full(row.actual[name])} />
                  ) : (
                    <Cell key={name} value={row.expected[name]} />
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function Outlets({ result }: { result: PipelineTestResult }) {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  return result.outlets.map(({ outlet, columns, differences: found }) => (
    <section key={outlet} aria-label={outletWords(document, outlet)}>
      <h3>{outletWords(document, outlet)}</h3>
      <p className="pw-tests-kind">
        {found.missing_rows + found.unexpected_rows + found.differing_rows + found.first_out_of_order === 0
          ? t('tests.equal', { count: found.actual_rows })
          : t('tests.outlet', { expected: found.expected_rows, actual: found.actual_rows })}
      </p>
      {found.first_out_of_order > 0 && <p className="pw-tests-kind">{t('tests.outOfOrder', { row: found.first_out_of_order })}</p>}
      <Differing found={found} columns={columns} />
      <Rows kind="missing" count={found.missing_rows} columns={columns} rows={found.missing} />
      <Rows kind="unexpected" count={found.unexpected_rows} columns={columns} rows={found.unexpected} />
    </section>
  ))
}

/** How the test went when it was run last: what differs, or why it could not be run. */
export function TestResult({ test }: { test: PipelineTest }) {
  const { t } = useTranslation('canvas')
  const { status, result, outdated } = useShown(test)
  return (
    <div className="pw-tests-result" role="region" aria-label={t(`tests.status.${status}`)} aria-live="polite" tabIndex={0}>
      <p className="pw-tests-verdict" data-status={status}>
        <StateGlyph state={GLYPHS[status]} />
        {t(`tests.status.${status}`)}
        {result && status !== 'running' && <small>{t('tests.seconds', { seconds: result.seconds.toFixed(1) })}</small>}
        {outdated && status !== 'running' && <small>{t('tests.outdated')}</small>}
      </p>
      {!result && status === 'none' && <p className="pw-3">{t('tests.notRun')}</p>}
      {result && status !== 'running' && (
        <>
          {result.message && result.problems.length !== 1 && <p className="pw-wrap">{said(result.message)}</p>}
          <ul className="pw-tests-problems">
            {result.problems.map((problem, place) => (
              <li key={place}>
                {said(problem.message)}
                <code>{problem.pointer}</code>
              </li>
            ))}
          </ul>
          <Outlets result={result} />
          <CodePrinted printed={result.printed} />
        </>
      )}
    </div>
  )
}
