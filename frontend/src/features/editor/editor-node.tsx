import { IconPlus } from '@tabler/icons-react'
import type { Node, NodeProps } from '@xyflow/react'
import { memo } from 'react'
import { useTranslation } from 'react-i18next'
import { drawnPorts, familyOf, type DagNode, type NodeType, type Problem } from '../../dag/document'
import { FamilyTile } from '../canvas/family-tile'
import { Ports } from '../canvas/ports'
import { StateGlyph } from '../../shared/state-glyph'
import { summary } from '../canvas/summary'
import { openPicker } from './picker-store'
import { problemSaid } from './problem-said'

export type EditorNodeData = {
  node: DagNode
  type: NodeType | undefined
  connected: ReadonlySet<string>
  needed: ReadonlySet<string>
  problem: Problem | undefined
  columns: number | null
}

function SummaryLine({ data }: { data: EditorNodeData }) {
  const { t } = useTranslation('canvas')
  if (!data.type?.available) return <span>{t('notInstalled')}</span>
  if (data.problem) return <span className={data.problem.severity === 'error' && data.problem.code !== 'config.missing' ? 'pw-node-bad' : 'pw-node-warn'}>{problemSaid(data.problem, data.node.name)}</span>
  return <code>{summary(data.node, data.type)}</code>
}

function look(data: EditorNodeData): string {
  if (!data.type?.available) return 'pw-node-missing'
  if (data.problem?.code === 'config.missing') return 'pw-node-unconfigured'
  return data.problem?.severity === 'error' && !data.problem.code.startsWith('port.') ? 'pw-node-problem' : ''
}

function Foot({ data }: { data: EditorNodeData }) {
  const { t } = useTranslation('canvas')
  if (!data.type) return t('keptAsIs')
  if (data.needed.size > 0) return <span className="pw-node-warn">{t('connectPort', { port: [...data.needed].join(', ') })}</span>
  return data.columns == null ? t('noSchema') : t('columns', { count: data.columns })
}

const sameSet = (one: ReadonlySet<string>, other: ReadonlySet<string>) => one.size === other.size && [...one].every((entry) => other.has(entry))

/** A card is drawn again only when what it shows changed, not at every edit elsewhere. */
const looksSame = ({ data: one, isConnectable: before }: NodeProps<Node<EditorNodeData>>, { data: other, isConnectable: now }: NodeProps<Node<EditorNodeData>>) =>
  before === now && one.node === other.node && one.type === other.type && one.problem?.message === other.problem?.message && one.columns === other.columns && sameSet(one.connected, other.connected) && sameSet(one.needed, other.needed)

/** A node on the drawing board: family, name, type, one line of config, columns; a problem takes the config's line. */
export const EditorNode = memo(function EditorNode({ id, data, isConnectable }: NodeProps<Node<EditorNodeData>>) {
  const { t } = useTranslation('canvas')
  const family = data.type?.family ?? familyOf(data.node.type)
  const ports = drawnPorts(data.node, data.type, data.connected)
  const output = ports.find((port) => port.kind === 'output')
  const glyph = data.problem ? (data.problem.severity === 'error' && look(data) === 'pw-node-problem' ? 'failed' : 'warning') : null
  return (
    <div className={`pw-node pw-${family} ${look(data)}`} data-node-id={id}>
      <div className="pw-node-head">
        <FamilyTile family={family} icon={data.type?.icon ?? 'puzzle'} />
        <div className="pw-node-names">
          <div className="pw-node-name" title={data.node.name}>
            <span>{data.node.name}</span>
            {glyph && <StateGlyph state={glyph} label={data.problem && problemSaid(data.problem, data.node.name)} />}
          </div>
          <span className="pw-node-type" title={data.node.type}>
            {data.node.type}
          </span>
        </div>
      </div>
      <div className="pw-node-summary" title={data.problem ? problemSaid(data.problem) : summary(data.node, data.type)}>
        <SummaryLine data={data} />
      </div>
      <div className="pw-node-foot">
        <Foot data={data} />
      </div>
      <Ports ports={ports} connected={data.connected} needed={data.needed} editable={isConnectable} />
      {output && (
        <button
          type="button"
          className="pw-add nodrag"
          tabIndex={-1}
          aria-label={t('addAfter')}
          title={t('addAfter')}
          onClick={(event) => {
            event.stopPropagation()
            openPicker({ from: [id, output.name] })
          }}
        >
          <IconPlus size={12} stroke={2.75} />
        </button>
      )}
    </div>
  )
}, looksSame)
