import type { BaseInputTemplateProps } from '@rjsf/utils'
import { NumberWidget, widgets } from './widgets'

/** Numbers get a number field, everything else a line of text. */
export function BaseInput(props: BaseInputTemplateProps) {
  const Text = widgets.TextWidget as typeof NumberWidget
  return props.schema.type === 'integer' || props.schema.type === 'number' ? <NumberWidget {...props} /> : <Text {...props} />
}
