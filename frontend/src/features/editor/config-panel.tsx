import { ActionIcon, Menu, TextInput, Tooltip } from '@mantine/core'
import { IconDots, IconHelp, IconX } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { said } from '../../api/sentences/said'
import { familyOf } from '../../dag/document'
import { fieldPath, nodeProblems } from '../../dag/problems'
import { FamilyTile } from '../canvas/family-tile'
import { typeWords } from '../canvas/type-words'
import { copyText } from '../../shared/clipboard'
import { StateGlyph } from '../../shared/state-glyph'
import { inputColumns, useDocument, useEditor } from './editor-store'
import { ConfigForm } from './form/config-form'
import { isInFold, isInView } from './form/form-schema'
import { NodeAddress } from './node-address'
import { inputTables } from './input-tables'
import { JobPanel } from './job-panel'
import { problemSaid } from './problem-said'
import { useConnections } from './use-connections'

function NodeName({ id, name }: { id: string; name: string }) {
  const { t } = useTranslation('canvas')
  const readOnly = useEditor((state) => state.readOnly)
  return (
    <TextInput
      variant="unstyled"
      className="pw-panel-name"
      value={name}
      maxLength={200}
      readOnly={readOnly}
      aria-label={t('nodeName')}
      onChange={(event) => useEditor.getState().changeNode(id, { name: event.currentTarget.value }, `name/${id}`)}
    />
  )
}

function NodeMenu({ id, name }: { id: string; name: string }) {
  const { t } = useTranslation('canvas')
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('actionsOf', { name })}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void copyText(useEditor.getState().copy())}>{t('copyNode')}</Menu.Item>
        <Menu.Item color="red" onClick={() => useEditor.getState().remove([id])}>
          {t('deleteNode')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** What stands between backticks, as code. */
const withCode = (text: string) => text.split('`').map((part, place) => (place % 2 ? <code key={place}>{part}</code> : part))

function NodePanel({ id }: { id: string }) {
  const { t, i18n } = useTranslation('canvas')
  const document = useDocument()
  const type = useEditor((state) => state.catalogue.get(document.nodes[id]?.type ?? ''))
  const problems = useEditor((state) => state.problems)
  const schemas = useEditor((state) => state.schemas)
  const focusField = useEditor((state) => state.focusField)
  const readOnly = useEditor((state) => state.readOnly)
  const { connections, connect } = useConnections()
  const [showsHelp, setShowsHelp] = useState(false)
  const tables = useMemo(() => inputTables(document, schemas, id), [document, schemas, id])
  const node = document.nodes[id]
  if (!node) return null
  const mine = nodeProblems(problems, id)
  const elsewhere = mine.filter((problem) => !type || !isInView(type.schema, node.config, fieldPath(problem, id, type)?.[0] ?? ''))
  const out = schemas[id]?.out
  const columns = inputColumns(document, schemas, id)
  const inputs = (type?.ports ?? []).filter((port) => port.kind === 'input' || port.kind === 'reference').map((port) => inputColumns(document, schemas, id, port.name))
  return (
    <>
      <header className="pw-panel-head">
        <FamilyTile family={type?.family ?? familyOf(node.type)} icon={type?.icon ?? 'puzzle'} />
        <div className="pw-node-names">
          <NodeName id={id} name={node.name} />
          <span className="pw-node-type">{node.type}</span>
        </div>
        <Tooltip label={t('about')}>
          <ActionIcon variant="subtle" color="gray" aria-label={t('about')} aria-expanded={showsHelp} onClick={() => setShowsHelp(!showsHelp)}>
            <IconHelp size={16} stroke={1.75} />
          </ActionIcon>
        </Tooltip>
        {!readOnly && <NodeMenu id={id} name={node.name} />}
        <ActionIcon variant="subtle" color="gray" aria-label={t('closePanel')} onClick={() => useEditor.getState().select([])}>
          <IconX size={16} />
        </ActionIcon>
      </header>
      <fieldset className="pw-panel-body" disabled={readOnly}>
        {showsHelp && type && (
          <div className="pw-about">
            <p>{typeWords(t, type).help}</p>
            {type.guarantee && <p>{withCode(said(type.guarantee))}</p>}
          </div>
        )}
        {elsewhere.map((problem) => (
          <p key={problem.code + problem.message} className={`pw-field-error${problem.severity === 'error' ? '' : ' pw-field-warning'}`} role="alert">
            <StateGlyph state={problem.severity === 'error' ? 'failed' : 'warning'} />
            <span>
              {problemSaid(problem, node.name)}
              {type && isInFold(type.schema, node.config, fieldPath(problem, id, type)?.[0] ?? '') && (
                <>
                  {' '}
                  <button type="button" className="pw-link" onClick={() => useEditor.getState().focusProblem(problem)}>{t('showField')}</button>
                </>
              )}
            </span>
          </p>
        ))}
        {type?.available && <NodeAddress nodeId={id} type={type} />}
        {type?.available ? (
          <ConfigForm
            key={i18n.language}
            nodeId={id}
            nodeName={node.name}
            type={type}
            config={node.config}
            problems={mine}
            columns={columns}
            inputs={inputs}
            tables={tables}
            readOnly={readOnly}
            connections={connections}
            connect={connect}
            focusField={focusField}
            onChange={(config, field) => useEditor.getState().changeNode(id, { config }, `config/${id}/${field}`)}
          />
        ) : (
          <p className="pw-empty">{said(type?.unavailable_reason ?? '') || t('notInstalledHelp', { type: node.type })}</p>
        )}
      </fieldset>
      <footer className="pw-panel-foot">{out ? t('columnsOut', { count: out.length }) : columns.length > 0 ? t('columnsIn', { count: columns.length }) : t('noSchema')}</footer>
    </>
  )
}

function ManyPanel({ count }: { count: number }) {
  const { t } = useTranslation('canvas')
  return (
    <div className="pw-panel-body">
      <p>{t('nodesChosen', { count })}</p>
      <p className="pw-field-help">{t('manyHelp')}</p>
    </div>
  )
}

/** The settings of what is selected: one node, several, or the job itself. */
export function ConfigPanel() {
  const { t } = useTranslation('canvas')
  const selected = useEditor((state) => state.selected)
  const [only] = [...selected]
  return (
    <aside className="pw-panel" aria-label={t('settings')}>
      {selected.size > 1 ? <ManyPanel count={selected.size} /> : only ? <NodePanel id={only} key={only} /> : <JobPanel />}
    </aside>
  )
}
