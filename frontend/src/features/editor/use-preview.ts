import { useDebouncedValue } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Preview } from '../../api/types'
import { isSameLogic, type DagDocument, type Problem } from '../../dag/document'
import { previewNode } from './draft-requests'
import { useEditor } from './editor-store'
import { givenOf, stampOf, type Samples } from './samples/sample-rows'

/** Who walks through nodes with the arrow keys asks once, for the last. */
const SETTLE_MS = 350

interface Asked {
  preview: Preview
  of: DagDocument
}

export interface Previewed {
  preview: Preview | undefined
  error: Error | null
  loading: boolean
  /** The drawing has changed since these rows were read. */
  outdated: boolean
  again: () => void
  cancel: () => void
}

/** Whether a node that stood in the way of these rows still has a problem; none that is named never goes. */
const isHindered = ({ problems }: Preview, now: readonly Problem[]) =>
  problems.length === 0 || problems.some(({ node_id }) => now.some((problem) => problem.severity === 'error' && problem.node_id === node_id))

/**
 * The first rows into and out of a node. Read when the node is chosen, and again when asked, when other rows are kept of one of its
 * `sources`, and when the problem that was shown instead is mended; the sources of which none are kept are read each time. `samples`:
 * null while it is not known what is kept.
 */
export function usePreview(nodeId: string, rows: number, sources: readonly string[], samples: Samples | null): Previewed {
  const client = useQueryClient()
  const document = useEditor((state) => state.history.present.document)
  const jobName = useEditor((state) => state.jobName)
  const analysed = useEditor((state) => state.analysed)
  const problems = useEditor((state) => state.problems)
  const [settled] = useDebouncedValue(nodeId, SETTLE_MS)
  const key = ['preview', jobName, nodeId, rows, stampOf(samples ?? {}, sources)]
  const asked = useQuery<Asked>({
    queryKey: key,
    enabled: settled === nodeId && samples !== null,
    placeholderData: (before, query) => (query?.queryKey[1] === jobName && query.queryKey[2] === nodeId ? before : undefined),
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    structuralSharing: false, // it would give `of` other parts than those of the drawing, which are told apart by identity
    queryFn: async ({ signal }) => {
      const of = useEditor.getState().history.present.document
      return { preview: await previewNode(of, nodeId, rows, givenOf(samples ?? {}, sources), signal), of }
    },
  })
  const { data, refetch } = asked
  const outdated = data !== undefined && !isSameLogic(data.of, document)
  const mended = outdated && analysed === document && !data.preview.available && !isHindered(data.preview, problems)
  useEffect(() => {
    if (mended) void refetch()
  }, [mended, refetch])
  return {
    preview: data?.preview,
    error: asked.error,
    loading: asked.isFetching || settled !== nodeId || samples === null,
    outdated,
    again: () => void refetch(),
    cancel: () => void client.cancelQueries({ queryKey: key }),
  }
}
