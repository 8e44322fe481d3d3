import { NODE_HEIGHT, NODE_WIDTH } from '../../dag/layout'
import { useEditor } from './editor-store'

/** Lay the drawing out in layers from left to right. The layout library is loaded on the first click, in a worker. */
export async function tidyUp(): Promise<void> {
  const { jobName, history, layOut } = useEditor.getState()
  const { document } = history.present
  const { default: Elk } = await import('elkjs/lib/elk-api')
  const worker = new Worker(new URL('elkjs/lib/elk-worker.min.js', import.meta.url))
  // The library itself would wait for ever for a worker that cannot be loaded.
  const broken = new Promise<never>((_, reject) => worker.addEventListener('error', ({ message }) => reject(new Error(message))))
  const elk = new Elk({ workerFactory: () => worker })
  try {
    const laidOut = elk.layout({
      id: 'root',
      layoutOptions: { 'elk.algorithm': 'layered', 'elk.direction': 'RIGHT', 'elk.layered.spacing.nodeNodeBetweenLayers': '60', 'elk.spacing.nodeNode': '36' },
      children: Object.keys(document.nodes).map((id) => ({ id, width: NODE_WIDTH, height: NODE_HEIGHT })),
      edges: Object.entries(document.edges).map(([id, edge]) => ({ id, sources: [edge.from[0]], targets: [edge.to[0]] })),
    })
    const graph = await Promise.race([laidOut, broken])
    if (useEditor.getState().jobName !== jobName) return
    const grid = (value: number | undefined) => Math.round((value ?? 0) / 4) * 4
    layOut(Object.fromEntries((graph.children ?? []).map((child) => [child.id, { x: grid(child.x), y: grid(child.y) }])))
  } finally {
    elk.terminateWorker()
  }
}
