import { useDebouncedValue } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Preview } from '../../api/types'
import { isSameLogic, type DagDocument } from '../../dag/document'
import { previewNode } from './draft-requests'
import { useEditor } from './editor-store'

/** Who walks through nodes with the arrow keys asks once, for the last. */
const SETTLE_MS = 350

export interface Previewed {
  preview: Preview | undefined
  error: Error | null
  loading: boolean
  /** The drawing has changed since these rows were read. */
  outdated: boolean
  again: () => void
  cancel: () => void
}

/** The first rows into and out of a node. Read when the node is chosen, and again only when asked: each time Spark reads the sources. */
export function usePreview(nodeId: string, rows: number): Previewed {
  const client = useQueryClient()
  const document = useEditor((state) => state.history.present.document)
  const jobName = useEditor((state) => state.jobName)
  const [settled] = useDebouncedValue(nodeId, SETTLE_MS)
  const key = ['preview', jobName, nodeId, rows]
  const asked = useQuery({
    queryKey: key,
    enabled: settled === nodeId,
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: async ({ signal }): Promise<{ preview: Preview; of: DagDocument }> => {
      const of = useEditor.getState().history.present.document
      return { preview: await previewNode(of, nodeId, rows, signal), of }
    },
  })
  return {
    preview: asked.data?.preview,
    error: asked.error,
    loading: asked.isFetching || settled !== nodeId,
    outdated: asked.data !== undefined && !isSameLogic(asked.data.of, document),
    again: () => void asked.refetch(),
    cancel: () => void client.cancelQueries({ queryKey: key }),
  }
}
