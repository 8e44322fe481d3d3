import { NumberInput, SegmentedControl, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { exactNumber } from './exact-number'
import type { ParameterValue, StartParameter } from './start-parameters'

const ORDER = ['label', 'input', 'error', 'description'] as ('label' | 'input' | 'error' | 'description')[]

interface Props {
  parameter: StartParameter
  value: ParameterValue | undefined
  error: string | undefined
  onChange: (value: ParameterValue | undefined) => void
}

/** One parameter's value, by its type; its help and its default stand below. */
export function ParameterField({ parameter, value, error, onChange }: Props) {
  const { t } = useTranslation('shared')
  const { name, type, fallback } = parameter
  const standard = fallback === undefined ? t('parameters.noDefault') : fallback === '' ? t('parameters.emptyDefault') : t('parameters.default', { value: String(fallback) })
  const help = parameter.help ? `${parameter.help} · ${standard}` : standard
  const shared = { label: name, description: help, error, inputWrapperOrder: ORDER, classNames: { label: 'pw-mono', input: 'pw-mono' } }
  if (type === 'boolean') {
    return (
      <div>
        <div className="pw-label pw-mono">{name}</div>
        <SegmentedControl size="xs" data={['true', 'false']} value={value === undefined ? '' : String(value)} onChange={(next) => onChange(next === 'true')} aria-label={name} />
        {error && <p className="pw-bad pw-11">{error}</p>}
        <p className="pw-help">{help}</p>
      </div>
    )
  }
  if (type === 'string') return <TextInput {...shared} value={String(value ?? '')} onChange={(event) => onChange(event.currentTarget.value)} />
  const number = typeof value === 'boolean' ? '' : typeof value === 'number' ? value : String(value ?? '')
  return <NumberInput {...shared} value={number} allowDecimal={type === 'number'} {...exactNumber(number)} onChange={onChange} />
}
