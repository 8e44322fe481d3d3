// The package's index also pulls a validator that compiles code.
import StringField from '@rjsf/core/lib/components/fields/StringField.js'
import { getDecimalSeparator, type FieldProps } from '@rjsf/utils'
import { useState } from 'react'
import { typedNumber } from '../../../dag/exact-json'

const valueOf = (typed: unknown): unknown => {
  if (typeof typed !== 'string') return typed
  return typed === '' ? undefined : typedNumber(typed.replace(getDecimalSeparator(), '.'))
}

/** A number as it is typed, such as "0.0", while the setting is what was made of it: one that changed elsewhere, as by Undo, is shown. */
export function NumberField(props: FieldProps) {
  const { formData, onChange } = props
  const [typed, setTyped] = useState<{ text: unknown; value: unknown } | null>(null)
  const change: FieldProps['onChange'] = (text, ...where) => {
    const value = valueOf(text)
    setTyped({ text, value })
    onChange(value, ...where)
  }
  const text: unknown = typed && Object.is(typed.value, formData) ? typed.text : formData
  return <StringField {...props} formData={typeof text === 'bigint' ? String(text) : text} onChange={change} />
}
