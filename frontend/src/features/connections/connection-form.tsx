import { Button, Textarea, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/request'
import type { Connection, ConnectionKind } from '../../api/types'
import { answer } from '../../shared/answers'
import { ConfigField } from './config-field'
import { secretTitle } from '../canvas/field-words'
import { ProjectField } from '../../shared/project-field'
import { changeConnection, createConnection } from './connection-requests'
import { fieldsOf, initialConfig, isShown, secretsSent, secretsShown } from './kind-fields'
import { SecretField } from './secret-field'

interface Props {
  kind: ConnectionKind
  connection: Connection | null
  /** The reader's role lets them look only. */
  readOnly?: boolean
  onSaved: (connection: Connection) => void
  onCancel: () => void
}

interface Refusal {
  whole: string
  fields: Record<string, string>
}

const NO_REFUSAL: Refusal = { whole: '', fields: {} }

/** The server's problems, each on its field: "/config/host" belongs to host, "/secrets/token" to the secret of that name. */
function refusalOf(error: unknown): Refusal {
  if (!(error instanceof ApiError)) return { whole: (error as Error).message, fields: {} }
  const fields: Record<string, string> = {}
  for (const problem of error.problems) {
    const parts = problem.pointer.split('/').filter(Boolean)
    const name = parts[0] === 'config' ? parts[1] : parts[0] === 'secrets' ? `secrets/${parts[1]}` : parts[0]
    if (name && !fields[name]) fields[name] = problem.message
  }
  return { whole: error.message, fields }
}

/** One column, one level: name, the kind's fields, its secrets. */
export function ConnectionForm({ kind, connection, readOnly = false, onSaved, onCancel }: Props) {
  const { t } = useTranslation(['connections', 'shared'])
  const fields = fieldsOf(kind)
  const [name, setName] = useState(connection?.name ?? '')
  const [description, setDescription] = useState(connection?.description ?? '')
  const [config, setConfig] = useState<Record<string, unknown>>(() => ({ ...initialConfig(fields), ...connection?.config }))
  const [secrets, setSecrets] = useState<Record<string, string | null | undefined>>({})
  const [refused, setRefused] = useState(NO_REFUSAL)
  const [project, setProject] = useState('')
  const [busy, setBusy] = useState(false)
  const change = (field: string, value: unknown) => {
    setRefused(({ whole, fields }) => ({ whole, fields: Object.fromEntries(Object.entries(fields).filter(([name]) => name !== field)) }))
    setConfig((old) => ({ ...old, [field]: value }))
  }
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setRefused(NO_REFUSAL)
    const given = secretsSent(kind, config, secrets, connection?.secrets ?? {})
    const content = { name: name.trim(), description: description.trim(), config: Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)), secrets: given }
    try {
      const kept = connection ? await changeConnection(connection.id, content) : await createConnection(kind.kind, project, content)
      answer(true, t('kept', { name: kept.name }))
      onSaved(kept)
    } catch (error) {
      setRefused(refusalOf(error))
    } finally {
      setBusy(false)
    }
  }
  const visible = fields.filter((field) => isShown(field, config))
  const drawn = (advanced: boolean) =>
    visible
      .filter((field) => field.advanced === advanced)
      .map((field) => <ConfigField key={field.name} field={field} value={config[field.name]} error={refused.fields[field.name]} onChange={(value) => change(field.name, value)} />)
  const order: ('label' | 'input' | 'error' | 'description')[] = ['label', 'input', 'error', 'description']
  return (
    <form onSubmit={(event) => void save(event)}>
      <fieldset className="pw-form-column pw-plain-fieldset" disabled={readOnly}>
        <TextInput data-autofocus label={t('form.name')} description={t('form.nameHelp')} value={name} maxLength={100} error={refused.fields.name} inputWrapperOrder={order} onChange={(event) => setName(event.currentTarget.value)} />
        <Textarea label={t('form.description')} value={description} maxLength={500} autosize minRows={1} maxRows={4} onChange={(event) => setDescription(event.currentTarget.value)} />
        {!connection && <ProjectField value={project} onChange={setProject} />}
        {drawn(false)}
        {secretsShown(kind, config).map((field) => (
          <SecretField key={field} label={secretTitle(kind, field)} kept={connection?.secrets[field] === true} value={secrets[field]} error={refused.fields[`secrets/${field}`]} onChange={(value) => setSecrets((old) => ({ ...old, [field]: value }))} />
        ))}
        {visible.some((field) => field.advanced) && (
          <details className="pw-more-fields">
            <summary>{t('form.advanced')}</summary>
            <div className="pw-form-column">{drawn(true)}</div>
          </details>
        )}
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
