import { Menu } from '@mantine/core'
import { IconArrowRight, IconDots } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { connectionRefusal } from '../../dag/connect-rules'
import { familyOf, isInput, portsOf, topologicalOrder, type Catalogue, type DagDocument, type Endpoint } from '../../dag/document'
import { nodeProblems, worst } from '../../dag/problems'
import { FamilyTile } from '../canvas/family-tile'
import { StateGlyph } from '../../shared/state-glyph'
import { useDocument, useEditor } from './editor-store'
import { problemSaid } from './problem-said'

/** Every edge that could be drawn from a node, as `[from, to]`. */
function possibleEdges(document: DagDocument, catalogue: Catalogue, nodeId: string): [Endpoint, Endpoint][] {
  const outputs = portsOf(document.nodes[nodeId], catalogue.get(document.nodes[nodeId]?.type ?? '')).filter((port) => !isInput(port))
  return outputs.flatMap((output) =>
    Object.entries(document.nodes).flatMap(([id, node]) =>
      (catalogue.get(node.type)?.ports ?? [])
        .filter((port) => isInput(port) && !connectionRefusal(document, catalogue, [nodeId, output.name], [id, port.name]))
        .map((port): [Endpoint, Endpoint] => [
          [nodeId, output.name],
          [id, port.name],
        ]),
    ),
  )
}

function OutlineMenu({ id }: { id: string }) {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const catalogue = useEditor((state) => state.catalogue)
  const edges = possibleEdges(document, catalogue, id)
  const connected = Object.entries(document.edges).filter(([, edge]) => edge.from[0] === id)
  const name = (nodeId: string) => document.nodes[nodeId]?.name ?? nodeId
  const words = ([, output]: Endpoint, [target, input]: Endpoint) => `${output === 'out' ? '' : `${output} → `}${name(target)}${input === 'in' ? '' : ` (${input})`}`
  return (
    <Menu position="bottom-start" withinPortal>
      <Menu.Target>
        <button type="button" className="pw-icon-button" aria-label={t('actionsOf', { name: name(id) })}>
          <IconDots size={14} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('connectTo')}</Menu.Label>
        {edges.length === 0 && <Menu.Item disabled>{t('nothingFits')}</Menu.Item>}
        {edges.map(([from, to]) => (
          <Menu.Item key={`${from.join('.')}>${to.join('.')}`} onClick={() => useEditor.getState().connect(from, to)}>
            {words(from, to)}
          </Menu.Item>
        ))}
        {connected.length > 0 && <Menu.Label>{t('disconnect')}</Menu.Label>}
        {connected.map(([edgeId, edge]) => (
          <Menu.Item key={edgeId} onClick={() => useEditor.getState().remove([], [edgeId])}>
            {words(edge.from, edge.to)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item color="red" onClick={() => useEditor.getState().remove([id])}>
          {t('deleteNode')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** The drawing as a list: what the canvas offers to a mouse, for a keyboard. */
export function Outline() {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const problems = useEditor((state) => state.problems)
  const catalogue = useEditor((state) => state.catalogue)
  const selected = useEditor((state) => state.selected)
  const readOnly = useEditor((state) => state.readOnly)
  const order = topologicalOrder(document)
  if (order.length === 0) return <p className="pw-empty">{t('emptyOutline')}</p>
  return (
    <ul className="pw-outline">
      {order.map((id) => {
        const node = document.nodes[id]
        if (!node) return null
        const problem = worst(nodeProblems(problems, id))
        const targets = Object.values(document.edges).filter((edge) => edge.from[0] === id)
        return (
          <li key={id} className={selected.has(id) ? 'pw-chosen' : ''}>
            <button type="button" className="pw-outline-node" onClick={() => useEditor.getState().select([id])}>
              <FamilyTile family={catalogue.get(node.type)?.family ?? familyOf(node.type)} icon={catalogue.get(node.type)?.icon ?? 'puzzle'} small />
              <span className="pw-outline-name pw-cut" title={node.name}>
                {node.name}
                {targets.length > 0 && (
                  <small>
                    <IconArrowRight size={10} /> {targets.map((edge) => document.nodes[edge.to[0]]?.name ?? edge.to[0]).join(', ')}
                  </small>
                )}
              </span>
              {problem && <StateGlyph state={problem.severity === 'error' ? 'failed' : 'warning'} label={problemSaid(problem)} />}
            </button>
            {!readOnly && <OutlineMenu id={id} />}
          </li>
        )
      })}
    </ul>
  )
}
