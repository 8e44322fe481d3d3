import type { DagDocument } from '../../dag/document'
import { keyedStore, type KeyedStore } from './keyed-store'

/** What one node shows while it runs: totals, and rows per second where Spark can tell. */
export interface NodeFigures {
  in: number | null
  out: number | null
  rejected: number
  /** What a stream left out as too late. */
  late: number
  /** What a stream left out because it has no time. */
  timeless: number
  inPerSecond: number | null
  outPerSecond: number | null
  /** When the table beside it was read last, where it could not be read again; "" else. */
  outdatedSince: string
}

/** What one edge shows: rows per second, when rows last moved (ms since 1970), and whether a batch is under way whose rows are not known yet. */
export interface EdgeFigures {
  perSecond: number | null
  lastRowsAt: number
  underWay: boolean
}

/** What of an execution concerns all edges. */
export interface EdgesAtOnce {
  rejectedPerSecond: number
  underWay: boolean
}

export interface CountsStore {
  nodes: KeyedStore<NodeFigures>
  edges: KeyedStore<EdgeFigures>
}

const sameFigures = (one: NodeFigures, other: NodeFigures) =>
  one.in === other.in &&
  one.out === other.out &&
  one.rejected === other.rejected &&
  one.late === other.late &&
  one.timeless === other.timeless &&
  one.outdatedSince === other.outdatedSince &&
  one.inPerSecond === other.inPerSecond &&
  one.outPerSecond === other.outPerSecond

const sameEdge = (one: EdgeFigures, other: EdgeFigures) => one.perSecond === other.perSecond && one.lastRowsAt === other.lastRowsAt && one.underWay === other.underWay

export const countsStore = (): CountsStore => ({ nodes: keyedStore(sameFigures), edges: keyedStore(sameEdge) })

/**
 * An edge that leads alone into its node carries what comes in there. Else it is what its upstream node sends out, if by this one port.
 * What `figures` does not tell, as of a first batch that failed and was never written, is shown no more.
 */
export function updateCounts(store: CountsStore, document: DagDocument, figures: ReadonlyMap<string, NodeFigures>, { rejectedPerSecond, underWay }: EdgesAtOnce, now: number) {
  store.nodes.set(figures)
  const drawn = Object.entries(document.edges)
  const edges = new Map<string, EdgeFigures>()
  for (const [id, { from, to }] of drawn) {
    const upstream = figures.get(from[0])
    if (!upstream) {
      if (underWay) edges.set(id, { perSecond: 0, lastRowsAt: now, underWay })
      continue
    }
    const [source, port] = from
    const alone = drawn.filter(([, other]) => other.to[0] === to[0]).length === 1
    const divided = port === 'late' || drawn.some(([, { from: [other, by] }]) => other === source && by !== port && by !== 'errors')
    const sent = port === 'errors' ? (upstream.rejected && rejectedPerSecond) : divided ? null : upstream.outPerSecond
    const perSecond = (alone ? figures.get(to[0])?.inPerSecond : null) ?? sent
    const lastRowsAt = underWay || (perSecond ?? 0) > 0 ? now : (store.edges.get(id)?.lastRowsAt ?? now)
    edges.set(id, { perSecond, lastRowsAt, underWay })
  }
  store.edges.set(edges)
}
