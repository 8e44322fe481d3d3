// The package's index also pulls a validator that compiles code, which the content security policy forbids.
import Form from '@rjsf/core/lib/components/Form.js'
import type { ErrorSchema, RJSFSchema } from '@rjsf/utils'
import { useEffect, useMemo, useRef } from 'react'
import type { Column, Config, NodeType, Problem } from '../../../dag/document'
import { fieldPath } from '../../../dag/problems'
import { useSpokenSchema } from '../../canvas/field-words'
import type { FormHelp } from './form-context'
import { drawnPath, prepared, uiSchemaOf, withChosen, withDefaults } from './form-schema'
import { MappingField } from './mapping-field'
import { NumberField } from './number-field'
import { templates } from './templates'
import { validator } from './validator'
import { TextWidget, widgets } from './widgets'
import { problemSaid } from '../problem-said'

interface Props {
  nodeId: string
  nodeName: string
  type: NodeType
  config: Config
  problems: Problem[]
  columns: Column[]
  inputs: readonly Column[][]
  tables: FormHelp['tables']
  connections: FormHelp['connections']
  connect: FormHelp['connect']
  /** Another object focuses it once more. */
  focusField: { path: string } | null
  readOnly: boolean
  onChange: (config: Config, field: string) => void
}

type Errors = { __errors?: string[] } & { [key: string]: Errors | string[] | undefined }

/** Problems as the form wants them: a tree of fields with `__errors` at the leaves. */
function errorTree(problems: Problem[], nodeId: string, nodeName: string, type: NodeType, schema: RJSFSchema): ErrorSchema {
  const root: Errors = {}
  for (const problem of problems) {
    const path = fieldPath(problem, nodeId, type)
    if (!path) continue
    let place = root
    for (const part of drawnPath(schema, path)) place = (place[part] ??= {}) as Errors
    place.__errors = [...(place.__errors ?? []), problemSaid(problem, nodeName)]
  }
  return root as ErrorSchema
}

const noSubmit = 'div'
const FIELDS = { mapping: MappingField, NumberField }

/** A node's settings, drawn from the JSON Schema of its type; errors are the server's. Another language needs another one. */
export function ConfigForm({ nodeId, nodeName, type, config, problems, columns, inputs, tables, connections, connect, focusField, readOnly, onChange }: Props) {
  const spoken = useSpokenSchema(type.schema, type.type)
  const schema = useMemo(() => prepared(spoken), [spoken])
  const uiSchema = useMemo(() => ({ ...uiSchemaOf(schema), 'ui:submitButtonOptions': { norender: true } }), [schema])
  const shown = useMemo(() => withDefaults(schema, config), [schema, config])
  const errors = useMemo(() => errorTree(problems, nodeId, nodeName, type, schema), [problems, nodeId, nodeName, type, schema])
  const warnings = useMemo(() => new Set(problems.filter((problem) => problem.severity !== 'error').map((problem) => problemSaid(problem, nodeName))), [problems, nodeName])
  const host = useRef<HTMLDivElement>(null)

  useEffect(() => {
    if (!focusField) return
    const path = drawnPath(schema, focusField.path.split('.'))
    const places = path.map((_, index) => path.slice(0, path.length - index).join('.'))
    const field = places.map((place) => host.current?.querySelector<HTMLElement>(`[data-field="${CSS.escape(place)}"]`)).find(Boolean)
    field?.closest('details')?.setAttribute('open', '')
    field?.scrollIntoView({ block: 'center' })
    field?.querySelector<HTMLElement>('input, textarea, [contenteditable=true], button')?.focus()
  }, [focusField, nodeId, schema])

  return (
    <div ref={host}>
      <Form
        key={nodeId}
        className="pw-form"
        tagName={noSubmit}
        idPrefix={`field_${nodeId}`}
        schema={schema}
        uiSchema={uiSchema}
        formData={shown}
        formContext={{ columns, inputs, tables, connections, connect, warnings, readOnly, write: (field, value) => onChange({ ...config, [field]: value }, field) } satisfies FormHelp}
        validator={validator}
        templates={{ ...templates, BaseInputTemplate: TextWidget }}
        widgets={widgets}
        fields={FIELDS}
        extraErrors={errors}
        noValidate
        showErrorList={false}
        experimental_defaultFormStateBehavior={{ emptyObjectFields: 'skipDefaults', arrayMinItems: { populate: 'never' } }}
        onChange={(event, id) => {
          const next = withChosen(schema, shown, event.formData as Config)
          if (JSON.stringify(next) !== JSON.stringify(shown)) onChange(next, id ?? '')
        }}
      />
    </div>
  )
}
