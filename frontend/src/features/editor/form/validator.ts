import { Validator, type Schema } from '@cfworker/json-schema'
import type { RJSFSchema, ValidatorType } from '@rjsf/utils'

/** The validator knows no bigint, which a long integer is: rounded it is in the same branch. */
const inNumbers = (data: unknown): unknown => JSON.parse(JSON.stringify(data ?? null))

/**
 * Interprets JSON Schema, so that it works under a policy without eval. It only decides which branch of a choice a value is in:
 * the messages a person sees come from the server's validation.
 */
export const validator: ValidatorType = {
  isValid: (schema: RJSFSchema, data: unknown) => new Validator(schema as Schema, '2020-12', true).validate(inNumbers(data)).valid,
  rawValidation: () => ({ errors: [] }),
  validateFormData: () => ({ errors: [], errorSchema: {} }),
}
