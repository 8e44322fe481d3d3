import { Button, Textarea, TextInput } from '@mantine/core'
import { useEffect, useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/request'
import { said } from '../../api/sentences/said'
import type { Connection, ConnectionKind } from '../../api/types'
import { answer } from '../../shared/answers'
import { ConfigField } from './config-field'
import { fieldTitle, secretTitle } from '../canvas/field-words'
import { ProjectField } from '../../shared/project-field'
import { changeConnection, createConnection, testConnection, testNewConnection } from './connection-requests'
import { fieldsOf, isFolded, isShown, secretsShown, type KindField } from './kind-fields'
import { SecretField } from './secret-field'
import { TestPanel } from './test-panel'
import { useWrittenConnection } from './use-written-connection'

interface Props {
  kind: ConnectionKind
  connection: Connection | null
  /** What a new one begins with. */
  begin?: Pick<Connection, 'name' | 'config' | 'project'>
  /** The reader's role lets them look only. */
  readOnly?: boolean
  onSaved: (connection: Connection) => void
  onTested?: () => void
  /** It is another by now than it was read. */
  onOutdated?: () => void
  /** Whether it holds something that is not kept yet. */
  onWritten?: (isWritten: boolean) => void
  onCancel: () => void
}

interface Refusal {
  whole: string
  fields: Record<string, string>
}

const nothing = () => undefined
const NO_REFUSAL: Refusal = { whole: '', fields: {} }

/** The server's problems, each on its field: "/config/host" belongs to host, "/secrets/token" to the secret of that name; the others below all. */
function refusalOf(error: unknown, kind: ConnectionKind): Refusal {
  if (!(error instanceof ApiError)) return { whole: (error as Error).message, fields: {} }
  const fields: Record<string, string> = {}
  const others: string[] = []
  for (const problem of error.problems) {
    const parts = problem.pointer.split('/').filter(Boolean)
    const name = parts[0] === 'config' ? parts[1] : parts[0] === 'secrets' ? `secrets/${parts[1]}` : parts[0]
    const message = parts[0] === 'config' ? fieldTitle(problem.message, kind.schema, `connection.${kind.kind}`, parts.slice(1)) : problem.message
    if (!name) others.push(said(message))
    else if (!fields[name]) fields[name] = said(message)
  }
  return { whole: others.join('; ') || error.message, fields }
}

/** A field that is corrected is refused no more, and with the last of them the whole is not. */
function without({ whole, fields }: Refusal, field: string): Refusal {
  const left = Object.fromEntries(Object.entries(fields).filter(([name]) => name !== field))
  return Object.keys(left).length === 0 && field in fields ? NO_REFUSAL : { whole, fields: left }
}

/** One column, one level: name, the kind's fields, its secrets. */
export function ConnectionForm({ kind, connection, begin, readOnly = false, onSaved, onTested = nothing, onOutdated = nothing, onWritten = nothing, onCancel }: Props) {
  const { t } = useTranslation(['connections', 'shared'])
  const fields = fieldsOf(kind)
  const { now, begun, trial, changes, isWritten, write, take } = useWrittenConnection(kind, connection, begin)
  const { name, description, config, secrets } = now
  const [refused, setRefused] = useState(NO_REFUSAL)
  const [project, setProject] = useState(begin?.project ?? '')
  const [busy, setBusy] = useState(false)
  useEffect(() => onWritten(isWritten), [onWritten, isWritten])
  const change = (field: string, value: unknown) => {
    setRefused((old) => without(old, field))
    const sets = fields.find(({ name }) => name === field)?.sets[String(value)]
    write({ config: { ...config, [field]: value, ...sets } })
  }
  const changeName = (text: string) => {
    setRefused((old) => without(old, 'name'))
    write({ name: text })
  }
  const changeSecret = (field: string, value: string | null | undefined) => {
    setRefused((old) => without(old, `secrets/${field}`))
    write({ secrets: { ...secrets, [field]: value } })
  }
  const isChanged = connection !== null && ('config' in changes || 'secrets' in changes)
  const test = (
    <TestPanel
      connection={connection}
      stamp={JSON.stringify([trial, project])}
      changed={isChanged}
      test={() => (connection ? testConnection(connection.id, isChanged ? trial : null) : testNewConnection(kind.kind, project, name.trim(), trial))}
      onTested={onTested}
      onTaken={() => setRefused(NO_REFUSAL)}
      onRefused={(error) => setRefused(refusalOf(error, kind))}
    />
  )
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setRefused(NO_REFUSAL)
    try {
      const kept = begun ? await changeConnection(begun, changes) : await createConnection(kind.kind, project, { name: name.trim(), description: description.trim(), ...trial })
      take(kept)
      answer(true, t('kept', { name: kept.name }))
      onSaved(kept)
    } catch (error) {
      setRefused(refusalOf(error, kind))
      if (error instanceof ApiError && error.status === 409) onOutdated()
    } finally {
      setBusy(false)
    }
  }
  const visible = fields.filter((field) => isShown(field, config))
  const folded = visible.filter((field) => isFolded(field, config))
  const drawn = (some: KindField[]) =>
    some.map((field) => <ConfigField key={field.name} field={field} value={config[field.name]} error={refused.fields[field.name]} onChange={(value) => change(field.name, value)} />)
  const order: ('label' | 'input' | 'error' | 'description')[] = ['label', 'input', 'error', 'description']
  return (
    <form onSubmit={(event) => void save(event)}>
      {connection && !readOnly && test}
      <fieldset className="pw-form-column pw-plain-fieldset" disabled={readOnly}>
        <TextInput data-autofocus label={t('form.name')} description={t('form.nameHelp')} value={name} maxLength={100} error={refused.fields.name} inputWrapperOrder={order} onChange={(event) => changeName(event.currentTarget.value)} />
        <Textarea label={t('form.description')} value={description} maxLength={500} autosize minRows={1} maxRows={4} onChange={(event) => write({ description: event.currentTarget.value })} />
        {!connection && <ProjectField value={project} onChange={setProject} />}
        {drawn(visible.filter((field) => !folded.includes(field)))}
        {secretsShown(kind, config).map((field) => (
          <SecretField key={field} label={secretTitle(kind, field)} kept={connection?.secrets[field] === true} value={secrets[field]} error={refused.fields[`secrets/${field}`]} lines={kind.secrets_of_lines.includes(field)} onChange={(value) => changeSecret(field, value)} />
        ))}
        {folded.length > 0 && (
          <details className="pw-more-fields" open={folded.some((field) => refused.fields[field.name]) || undefined}>
            <summary>{t('form.advanced')}</summary>
            <div className="pw-form-column">{drawn(folded)}</div>
          </details>
        )}
        {!connection && test}
        {refused.whole && (
          <p className="pw-bad pw-12 pw-wrap" role="alert">
            {refused.whole}
          </p>
        )}
        {!readOnly && (
          <div className="pw-form-acts">
            <Button onClick={onCancel}>{t('shared:cancel')}</Button>
            <Button type="submit" variant="filled" loading={busy} disabled={!name.trim()}>
              {t(connection ? 'form.save' : 'form.create')}
            </Button>
          </div>
        )}
      </fieldset>
    </form>
  )
}
