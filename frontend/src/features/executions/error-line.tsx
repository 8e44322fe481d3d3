import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Execution } from '../../api/types'
import { lessName } from '../../dag/less-name'
import { StateGlyph } from '../../shared/state-glyph'

/** What failed, at which node; the trace is one click away. */
export function ErrorLine({ execution, nodeName }: { execution: Execution; nodeName: string }) {
  const { t } = useTranslation('executions')
  const [opened, setOpened] = useState(false)
  if (!execution.error_message || execution.status === 'RUNNING' || execution.status === 'COMPLETED') return null
  return (
    <div className="pw-error-line" role="alert">
      <div className="pw-line">
        <StateGlyph state={execution.status === 'FAILED' ? 'failed' : 'warning'} />
        {nodeName && <b>{nodeName}</b>}
        <span className="pw-grow pw-lines-2" title={execution.error_message}>
          {lessName(execution.error_message, nodeName)}
        </span>
        {execution.error_stack_trace && <Button onClick={() => setOpened(!opened)}>{t(opened ? 'error.hide' : 'error.show')}</Button>}
      </div>
      {opened && <pre className="pw-trace">{execution.error_stack_trace}</pre>}
    </div>
  )
}
