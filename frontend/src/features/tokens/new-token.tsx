import { Button, SegmentedControl, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import type { Token } from '../../api/types'
import { copyText } from '../../shared/clipboard'
import { makeToken } from './token-requests'

const SCOPES: readonly Token['scope'][] = ['READ', 'FULL']

/** The text of a token at its making: there is no second look. */
function Shown({ text }: { text: string }) {
  const { t } = useTranslation('tokens')
  return (
    <div className="pw-token-made" role="status">
      <b className="pw-12">{t('made')}</b>
      <div className="pw-line">
        <input className="pw-mono pw-grow" readOnly value={text} aria-label={t('text')} onFocus={(event) => event.currentTarget.select()} />
        <Button onClick={() => void copyText(text)}>{t('copy')}</Button>
      </div>
    </div>
  )
}

/** What the token is for and what it may do; then its text. */
export function NewToken({ onMade }: { onMade: () => void }) {
  const { t } = useTranslation('tokens')
  const [name, setName] = useState('')
  const [scope, setScope] = useState<Token['scope']>('READ')
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const make = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError('')
    try {
      setText((await makeToken(name.trim(), scope)).token)
      setName('')
      onMade()
    } catch (failure) {
      setError((failure as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form className="pw-form-column" onSubmit={(event) => void make(event)}>
      <div className="pw-token-fields">
        <TextInput data-autofocus label={t('name')} value={name} maxLength={100} placeholder={t('nameExample')} onChange={(event) => setName(event.currentTarget.value)} />
        <div>
          <div className="pw-label">{t('scopeTitle')}</div>
          <SegmentedControl size="xs" aria-label={t('scopeTitle')} value={scope} onChange={(value) => setScope(value as Token['scope'])} data={SCOPES.map((value) => ({ value, label: t(`scope.${value}`) }))} />
        </div>
        <Button type="submit" variant="filled" loading={busy} disabled={!name.trim()}>
          {t('make')}
        </Button>
      </div>
      {error ? <p className="pw-bad pw-12 pw-wrap" role="alert">{error}</p> : <p className="pw-help">{t(`scopeHelp.${scope}`)}</p>}
      {text && <Shown text={text} />}
    </form>
  )
}
