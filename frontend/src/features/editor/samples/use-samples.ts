import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Sample } from '../../../api/types'
import { draftsKept, saveNow } from '../draft-saving'
import { useEditor } from '../editor-store'
import { dropSample, keepSample, readSamples, type RowsToKeep } from './sample-requests'
import type { Samples } from './sample-rows'

const NONE: Samples = {}

/** The server keeps rows of sources that it knows: a drawing that was just changed goes there first. */
async function drawingIsThere(nodeId: string): Promise<void> {
  await draftsKept()
  const { saved, save } = useEditor.getState()
  if (!saved.document.nodes[nodeId] && save.kind === 'dirty') await saveNow()
}

export interface KeptSamples {
  samples: Samples
  /** They are known: until then nobody can say what a preview is to take. */
  ready: boolean
  error: Error | null
  /** `seen`: the revision over which the rows are written, "" where there were none. Throws SampleConflict where it is another by now. */
  keep: (nodeId: string, sample: RowsToKeep, byHand: boolean, seen: string) => Promise<Sample>
  drop: (nodeId: string, seen: string) => Promise<void>
  refresh: () => Promise<Samples>
}

/** The sample rows that are kept with the open draft. */
export function useSamples(): KeptSamples {
  const client = useQueryClient()
  const jobName = useEditor((state) => state.jobName)
  const queryKey = ['samples', jobName]
  const asked = useQuery({ queryKey, queryFn: () => readSamples(jobName) })
  const put = (change: (samples: Samples) => Samples) => client.setQueryData<Samples>(queryKey, (old) => change(old ?? NONE))
  return {
    samples: asked.data ?? NONE,
    ready: asked.data !== undefined,
    error: asked.data === undefined ? asked.error : null,
    keep: async (nodeId, rows, byHand, seen) => {
      await drawingIsThere(nodeId)
      const sample = await keepSample(jobName, nodeId, rows, byHand, seen)
      put((samples) => ({ ...samples, [nodeId]: sample }))
      return sample
    },
    drop: async (nodeId, seen) => {
      await dropSample(jobName, nodeId, seen)
      put((samples) => Object.fromEntries(Object.entries(samples).filter(([id]) => id !== nodeId)))
    },
    refresh: async () => (await asked.refetch()).data ?? NONE,
  }
}
