import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { said } from '../../api/sentences/said'
import type { Execution } from '../../api/types'
import { lessName } from '../../dag/less-name'
import { StateGlyph } from '../../shared/state-glyph'

/** A message longer than this may not fit into two lines. */
const TWO_LINES = 180

/** What failed, at which node; all of its words and the trace are one click away. */
export function ErrorLine({ execution, nodeName }: { execution: Execution; nodeName: string }) {
  const { t } = useTranslation('executions')
  const [opened, setOpened] = useState(false)
  if (!execution.error_message || execution.status === 'RUNNING' || execution.status === 'COMPLETED') return null
  const [more, less] = execution.error_stack_trace ? (['error.show', 'error.hide'] as const) : (['error.more', 'error.less'] as const)
  const isMore = Boolean(execution.error_stack_trace) || execution.error_message.length > TWO_LINES || execution.error_message.includes('\n')
  return (
    <div className="pw-error-line" role="alert">
      <div className="pw-line">
        <StateGlyph state={execution.status === 'FAILED' ? 'failed' : 'warning'} />
        {nodeName && <b>{nodeName}</b>}
        <span className={opened ? 'pw-grow pw-wrap' : 'pw-grow pw-lines-2'} title={said(execution.error_message)}>
          {said(lessName(execution.error_message, nodeName))}
        </span>
        {isMore && <Button onClick={() => setOpened(!opened)}>{t(opened ? less : more)}</Button>}
      </div>
      {opened && execution.error_stack_trace && <pre className="pw-trace">{execution.error_stack_trace}</pre>}
    </div>
  )
}
