import { ask } from '../api.js'
import { html } from '../html.js'
import { useAction, useLoad } from '../load.js'
import { Loads } from './notice.js'
import { SchemaForm } from './schema-form.js'

/**
 * A form for an operation of the API, made of what the API says of its body. What is made new is sent with `values`; of what is
 * changed only the changes are sent, with null for a field that was emptied.
 * @param {{ operation: string, params?: Record<string, string>, values?: Record<string, unknown>, given?: Record<string, unknown>,
 *   fields?: readonly string[], submit?: string, id?: string, query?: Record<string, unknown>, without?: readonly string[],
 *   also?: { title: string, act: (form: Record<string, unknown>) => Promise<unknown> }, done: (answer: any) => void }} props
 *   `operation` as `PUT /api/things/{id}`; `given` is sent with what the form says and has no fields, nor have those in `without`
 */
export function OperationForm({
  operation,
  params = {},
  values = {},
  given = {},
  fields,
  submit,
  id = 'field',
  query,
  without = [],
  also,
  done,
}) {
  const [method = '', path = ''] = operation.split(' ')
  const document = useLoad('/api/openapi.json', { query: { path } })
  const { busy, error, run } = useAction()
  const isNew = method === 'POST'
  const save = (/** @type {Record<string, unknown>} */ changed) =>
    run(async () => {
      const form = isNew ? withoutNulls({ ...values, ...changed }) : changed
      done(await ask(method, filled(path, params), { body: { ...given, ...form }, ...(query && { query }) }))
    })
  const tryOut = (/** @type {Record<string, unknown>} */ changed) =>
    run(() => also?.act(withoutNulls({ ...given, ...values, ...changed })) ?? Promise.resolve())
  return html`
    <${Loads} of=${document}>
      ${(/** @type {any} */ { paths }) => html`
        <${SchemaForm}
          schema=${lacking(bodyOf(paths[path]?.[method.toLowerCase()]), [...without, ...Object.keys(given)])}
          values=${values}
          first=${fields}
          busy=${busy}
          error=${error}
          id=${id}
          submit=${submit}
          mayBeUnchanged=${isNew}
          also=${also && { title: also.title, act: tryOut }}
          save=${save}
        />
      `}
    <//>
  `
}

/** @param {any} operation */
const bodyOf = (operation) => operation?.requestBody?.content['application/json'].schema

/**
 * @param {any} schema
 * @param {readonly string[]} without
 */
const lacking = (schema, without) => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema?.properties ?? {}).filter(([name]) => !without.includes(name)),
  ),
})

/** @param {Record<string, unknown>} values */
const withoutNulls = (values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))

/**
 * A path of the API with values in the places of its parameters.
 * @param {string} path
 * @param {Record<string, string>} params
 */
const filled = (path, params) =>
  path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
