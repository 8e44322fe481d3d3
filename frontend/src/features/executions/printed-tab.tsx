import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { Printed } from '../../live/execution-state'
import { Notice } from '../../shared/notice'
import { WholeFields } from './whole-fields'

/** What print sinks showed since the page was opened. */
export function PrintedTab({ printed, nodeId, nameOf, over }: { printed: readonly Printed[]; nodeId: string; nameOf: (nodeId: string) => string; over: boolean }) {
  const { t } = useTranslation('executions')
  const end = useRef<HTMLDivElement>(null)
  const shown = nodeId ? printed.filter((one) => one.nodeId === nodeId) : printed
  useEffect(() => {
    // Braces: the browser's promise must not be taken for a clean-up.
    void end.current?.scrollIntoView({ block: 'nearest' })
  }, [shown.length])
  if (shown.length === 0) return <Notice title={t(over ? 'printed.noneEver' : 'printed.none')}>{t(over ? 'printed.noneEverHelp' : 'printed.noneHelp')}</Notice>
  return (
    <div className="pw-log-lines" role="log" aria-label={t('tab.printed')} tabIndex={0}>
      {shown.map((one, index) => (
        <div key={index} className="pw-log-line pw-printed-line">
          <span className="pw-cut">{nameOf(one.nodeId)}</span>
          <span>{one.batchId}</span>
          <span>
            <WholeFields text={one.row} />
          </span>
        </div>
      ))}
      <div ref={end} />
    </div>
  )
}
