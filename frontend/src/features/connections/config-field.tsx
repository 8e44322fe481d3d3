import { NumberInput, SegmentedControl, Select, Switch, Textarea, TextInput, type NumberInputProps } from '@mantine/core'
import { useState } from 'react'
import { typedNumber } from '../../dag/exact-json'
import { exactNumber } from '../../shared/exact-number'
import type { KindField } from './kind-fields'
import { PairList } from './pair-list'

const FEW = 4
const ORDER = ['label', 'input', 'error', 'description'] as ('label' | 'input' | 'error' | 'description')[]

/** To the last digit; undefined while it is none yet. */
function numberOf(typed: string | number): number | bigint | undefined {
  const value = typedNumber(String(typed))
  return typeof value === 'string' ? undefined : value
}

interface Props {
  field: KindField
  value: unknown
  error: string | undefined
  onChange: (value: unknown) => void
}

type Shared = Pick<NumberInputProps, 'label' | 'description' | 'error' | 'required' | 'withAsterisk' | 'inputWrapperOrder'>

/** What is typed stands while it is under way: "2." is 2 already, and "-" no number yet. */
function NumberField({ field, value, onChange, shared }: Omit<Props, 'error'> & { shared: Shared }) {
  const known = typeof value === 'number' || typeof value === 'bigint' ? value : undefined
  const shown = typeof known === 'bigint' ? String(known) : (known ?? '')
  const [typed, setTyped] = useState<string | number>(shown)
  const limits = { ...(field.least === undefined ? {} : { min: field.least }), ...(field.most === undefined ? {} : { max: field.most }) }
  const type = (next: string | number) => {
    setTyped(next)
    onChange(numberOf(next))
  }
  const text = numberOf(typed) === known ? typed : shown
  return <NumberInput {...shared} {...limits} value={text} placeholder={field.initial == null ? field.example : String(field.initial)} allowDecimal={field.type === 'number'} {...exactNumber(text)} onChange={type} />
}

/** One field of a connection, by its type: choice, switch, number, pairs or text. */
export function ConfigField({ field, value, error, onChange }: Props) {
  const shared = { label: field.label, description: field.help, error, required: field.required, withAsterisk: false, inputWrapperOrder: ORDER }
  if (field.type === 'boolean') return <Switch label={field.label} description={field.help} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
  if (field.choices.length > 0 && field.choices.length <= FEW) {
    return (
      <div>
        <div className="pw-label">{field.label}</div>
        <SegmentedControl size="xs" fullWidth data={field.choices} value={String(value ?? '')} onChange={onChange} aria-label={field.label} />
        <p className="pw-help">{field.help}</p>
      </div>
    )
  }
  if (field.choices.length > 0) return <Select {...shared} data={field.choices} value={String(value ?? '')} allowDeselect={false} onChange={onChange} />
  if (field.type === 'array') {
    return (
      <div>
        <div className="pw-label">{field.label}</div>
        <PairList label={field.label} value={value} onChange={onChange} />
        <p className="pw-help">{field.help}</p>
        {error && <p className="pw-bad pw-11">{error}</p>}
      </div>
    )
  }
  if (field.type === 'integer' || field.type === 'number') {
    return <NumberField field={field} value={value} onChange={onChange} shared={shared} />
  }
  const text = String(value ?? '')
  if (field.long) return <Textarea {...shared} autosize minRows={3} maxRows={8} value={text} placeholder={field.example} classNames={{ input: 'pw-mono' }} onChange={(event) => onChange(event.currentTarget.value)} />
  return <TextInput {...shared} value={text} placeholder={field.example} classNames={{ input: 'pw-mono' }} onChange={(event) => onChange(event.currentTarget.value)} />
}
