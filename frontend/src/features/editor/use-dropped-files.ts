import i18next from 'i18next'
import { useEffect } from 'react'
import { importJob, type ImportOutcome } from '../../api/import-job'
import { said } from '../../api/sentences/said'
import { answer } from '../../shared/answers'

function tell({ file, job, project, connections, problems, error }: ImportOutcome): void {
  if (job === null) {
    const why = error || said(problems[0]?.message ?? '')
    return answer(false, i18next.t(why ? 'canvas:imported.refused' : 'canvas:imported.unreadable', { file, why }))
  }
  const names = connections.map(({ name }) => name).join(', ')
  const text = i18next.t(names ? 'canvas:imported.needs' : 'canvas:imported.made', { file, project, names })
  answer(true, text, { words: i18next.t('canvas:imported.open'), to: `/jobs/${encodeURIComponent(job)}` })
}

const hasFiles = ({ dataTransfer, defaultPrevented }: DragEvent) => !defaultPrevented && dataTransfer?.types.includes('Files') === true
const isInDialog = (target: EventTarget | null) => target instanceof Element && target.closest('[role=dialog]') !== null

function onDragOver(event: DragEvent): void {
  if (hasFiles(event)) event.preventDefault()
}

async function onDrop(event: DragEvent, project: string): Promise<void> {
  if (!hasFiles(event)) return
  event.preventDefault()
  if (isInDialog(event.target)) return
  for (const file of [...(event.dataTransfer?.files ?? [])]) tell(await importJob(file, project))
}

/** A file that is dropped on the editor becomes a job of its own in `project`: what is drawn stays, and the browser opens no file in its place. */
export function useDroppedFiles(project: string): void {
  useEffect(() => {
    const drop = (event: DragEvent) => void onDrop(event, project)
    window.addEventListener('dragover', onDragOver)
    window.addEventListener('drop', drop)
    return () => {
      window.removeEventListener('dragover', onDragOver)
      window.removeEventListener('drop', drop)
    }
  }, [project])
}
