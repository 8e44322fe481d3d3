import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ReactFlowProvider } from '@xyflow/react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useParams } from 'react-router'
import { wholeLayout } from '../../dag/marks'
import { covers } from '../../api/use-may'
import '../canvas/i18n'
import { ConflictNote } from './conflict-note'
import { ConfigPanel } from './config-panel'
import { Dock } from './dock'
import { readDraft, readJob, readNodeTypes, type JobHead } from './draft-requests'
import { draftsKept, saveOnLeaving } from './draft-saving'
import './editor.css'
import { EditorCanvas } from './editor-canvas'
import { EditorHeader } from './editor-header'
import { useEditor } from './editor-store'
import { LeaveDialog } from './leave-dialog'
import { NodePicker } from './node-picker'
import { Outline } from './outline'
import { Palette } from './palette'
import { useDraftSync } from './use-draft-sync'
import { useDroppedFiles } from './use-dropped-files'
import { useShortcuts } from './use-shortcuts'

function LeftPanel() {
  const { t } = useTranslation('canvas')
  const readOnly = useEditor((state) => state.readOnly)
  const [chosen, setSide] = useState('palette')
  const side = readOnly ? 'outline' : chosen
  return (
    <aside className="pw-left" aria-label={t(side)}>
      {!readOnly && (
        <SegmentedControl
          size="xs"
          fullWidth
          value={side}
          onChange={setSide}
          data={[
            { value: 'palette', label: t('palette') },
            { value: 'outline', label: t('outline') },
          ]}
        />
      )}
      {side === 'palette' ? <Palette /> : <Outline />}
    </aside>
  )
}

function Board({ jobName, found }: { jobName: string; found: JobHead | undefined }) {
  const { analyseNow } = useDraftSync()
  useShortcuts()
  const readOnly = useEditor((state) => state.readOnly)
  const head = useQuery({ queryKey: ['job-head', jobName], queryFn: () => readJob(jobName), initialData: found })
  useDroppedFiles(head.data && covers(head.data.role, 'EDITOR') ? head.data.project : '')
  if (!head.data) return null
  return (
    <main className="pw-editor" data-read-only={readOnly || undefined}>
      <EditorHeader job={head.data} onPublished={() => void head.refetch()} validate={analyseNow} />
      <LeftPanel />
      <EditorCanvas />
      <ConflictNote />
      <ConfigPanel />
      <Dock />
      <NodePicker />
      <LeaveDialog />
    </main>
  )
}

/** Draw a job: palette or outline, canvas, settings of what is selected, problems below. */
export default function EditorPage() {
  const { t } = useTranslation('canvas')
  const { jobName = '' } = useParams()
  const loaded = useQuery({
    queryKey: ['editor', jobName],
    queryFn: async () => {
      await draftsKept()
      const [draft, types, head] = await Promise.all([readDraft(jobName), readNodeTypes(), readJob(jobName)])
      return { draft, head, catalogue: new Map(types.map((type) => [type.type, type])) }
    },
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const opened = useEditor((state) => state.jobName)

  useEffect(() => {
    if (!loaded.data) return
    const { draft, head, catalogue } = loaded.data
    useEditor.getState().open(jobName, catalogue, { document: draft.document, layout: wholeLayout(draft.layout) }, draft.revision, draft.problems, !covers(head.role, 'EDITOR'), draft.delivery)
    return () => {
      saveOnLeaving()
      useEditor.setState({ jobName: '' })
    }
  }, [loaded.data, jobName])

  if (loaded.error) {
    return (
      <main className="pw-editor-message" role="alert">
        <h1>{t('notOpened')}</h1>
        <p>{loaded.error.message}</p>
        <Link className="pw-link" to="/jobs">{t('allJobs')}</Link>
      </main>
    )
  }
  if (opened !== jobName) return <main className="pw-editor-message" aria-busy="true" aria-label={t('loading')} />
  return (
    <ReactFlowProvider>
      <Board jobName={jobName} found={loaded.data?.head} />
    </ReactFlowProvider>
  )
}
