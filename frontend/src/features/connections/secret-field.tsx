import { PasswordField } from './password-field'
import { useTranslation } from 'react-i18next'

interface Props {
  label: string
  kept: boolean
  /** undefined: leave what is kept; null: take it off; text: the new one. */
  value: string | null | undefined
  error: string | undefined
  lines: boolean
  onChange: (value: string | null | undefined) => void
}

/** A secret can be written, replaced and taken off; it is never shown. */
export function SecretField({ label, kept, value, error, lines, onChange }: Props) {
  const { t } = useTranslation('connections')
  if (kept && value === undefined) {
    return (
      <div>
        <div className="pw-label">{label}</div>
        <div className="pw-line">
          <span className="pw-chip">{t('secret.kept')}</span>
          <button type="button" className="pw-link" onClick={() => onChange('')}>
            {t('secret.replace')}
          </button>
          <button type="button" className="pw-link" onClick={() => onChange(null)}>
            {t('secret.remove')}
          </button>
        </div>
        {error && <p className="pw-bad pw-11">{error}</p>}
      </div>
    )
  }
  if (value === null) {
    return (
      <div>
        <div className="pw-label">{label}</div>
        <div className="pw-line">
          <span className="pw-chip pw-chip-warn">{t('secret.willGo')}</span>
          <button type="button" className="pw-link" onClick={() => onChange(undefined)}>
            {t('secret.keep')}
          </button>
        </div>
      </div>
    )
  }
  return <PasswordField label={label} help={t('secret.help')} value={value ?? ''} error={error} lines={lines} onChange={(text) => onChange(text === '' && !kept ? undefined : text)} />
}
