import { Button, Loader } from '@mantine/core'
import { IconCopy, IconDownload, IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { copyText } from '../../shared/clipboard'
import { later } from '../../shared/later'
import type { Script } from '../../api/types'
import { isSameLogic, type DagDocument, type Problem } from '../../dag/document'
import { StateGlyph } from '../../shared/state-glyph'
import { writeScript } from './draft-requests'
import { useDocument, useEditor } from './editor-store'
import { problemSaid } from './problem-said'

const CodeField = later(() => import('./form/code-field'))

/** The script of the drawing as it was when it was asked for. */
function useScript() {
  const document = useDocument()
  const jobName = useEditor((state) => state.jobName)
  const asked = useQuery({
    queryKey: ['script', jobName],
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    structuralSharing: false, // it would give `of` other parts than those of the drawing, which are told apart by identity
    queryFn: async ({ signal }): Promise<{ script: Script; of: DagDocument }> => {
      const of = useEditor.getState().history.present.document
      return { script: await writeScript(of, signal), of }
    },
  })
  return { ...asked, outdated: asked.data !== undefined && !isSameLogic(asked.data.of, document) }
}

function download(name: string, text: string) {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/x-python' }))
  Object.assign(window.document.createElement('a'), { href: address, download: `${name}-job.py` }).click()
  URL.revokeObjectURL(address)
}

function Refused({ problems }: { problems: readonly Problem[] }) {
  const document = useDocument()
  return (
    <div className="pw-preview-refused" role="alert">
      {problems.map((problem, index) => (
        <button key={index} type="button" className="pw-line pw-script-problem" onClick={() => useEditor.getState().focusProblem(problem)}>
          <StateGlyph state="failed" />
          {problem.node_id && <b>{document.nodes[problem.node_id]?.name ?? problem.node_id}</b>}
          <span className="pw-wrap">{problemSaid(problem, document.nodes[problem.node_id ?? '']?.name ?? '')}</span>
        </button>
      ))}
    </div>
  )
}

function Text({ text }: { text: string }) {
  const { t } = useTranslation('canvas')
  return (
    <Suspense fallback={<p className="pw-empty">{t('script.writing')}</p>}>
      <div className="pw-script-text">
        <CodeField id="pyspark-script" label={t('script.label')} value={text} columns={[]} invalid={false} tall language="python" readOnly onChange={() => undefined} />
      </div>
    </Suspense>
  )
}

/** The drawing as a plain PySpark script, to read, to keep, or to run elsewhere. */
export function ScriptTab() {
  const { t } = useTranslation('canvas')
  const { data, error, isFetching, outdated, refetch } = useScript()
  const name = useEditor((state) => state.jobName)
  const text = data?.script.text ?? ''
  return (
    <div className="pw-preview" data-stale={(isFetching && data !== undefined) || undefined}>
      <div className="pw-preview-head">
        <span className="pw-11 pw-3 pw-cut">{t(outdated ? 'script.outdated' : 'script.help')}</span>
        <span className="pw-grow" />
        {text && (
          <>
            <Button size="compact-xs" leftSection={<IconCopy size={12} />} onClick={() => void copyText(text)}>{t('copyJson')}</Button>
            <Button size="compact-xs" leftSection={<IconDownload size={12} />} onClick={() => download(name, text)}>{t('script.download')}</Button>
          </>
        )}
        <Button size="compact-xs" leftSection={<IconRefresh size={12} />} loading={isFetching} onClick={() => void refetch()}>{t('script.again')}</Button>
      </div>
      {isFetching && !data && (
        <p className="pw-empty pw-line" role="status">
          <Loader size={14} /> {t('script.writing')}
        </p>
      )}
      {error && <p className="pw-preview-refused pw-line" role="alert"><StateGlyph state="failed" /> {error.message}</p>}
      {data && (text ? <Text text={text} /> : <Refused problems={data.script.problems as Problem[]} />)}
    </div>
  )
}
