/** A node of a JSON Schema, as far as a table of settings reads it. */
export interface SettingNode {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly title?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly properties?: Readonly<Record<string, SettingNode>>
  readonly required?: readonly string[]
  readonly additionalProperties?: SettingNode | boolean
  readonly items?: SettingNode
  readonly anyOf?: readonly SettingNode[]
  readonly oneOf?: readonly SettingNode[]
}

/** Rows of a table of settings: dotted name, type, default and description; `[]` stands for each item, `<name>` for each name. */
export function settingRows(node: SettingNode, path = ''): string[][] {
  return Object.entries(node.properties ?? {}).flatMap(([key, inner]) => {
    const name = path ? `${path}.${key}` : key
    const required = node.required?.includes(key) && inner.default === undefined
    const standard = inner.default === undefined ? '' : `\`${JSON.stringify(inner.default)}\``
    const text = inner.description ?? inner.title ?? ''
    return [[`\`${name}\``, typeOf(inner), required ? 'required' : standard, text], ...rowsBelow(inner, name)]
  })
}

function rowsBelow(node: SettingNode, name: string): string[][] {
  const { items, additionalProperties: named } = node
  return [
    ...settingRows(node.properties ? node : {}, name),
    ...(items ? rowsBelow(items, `${name}[]`) : []),
    ...(typeof named === 'object' ? rowsBelow(named, `${name}.<name>`) : []),
    ...alternatives(node).flatMap((one) => rowsBelow(one, name)),
  ]
}

function typeOf(node: SettingNode): string {
  const { type, items, additionalProperties: named } = node
  const among = alternatives(node)
  if (among.length > 0) return [...new Set(among.map(typeOf))].join(' or ')
  if (node.const !== undefined) return `\`${JSON.stringify(node.const)}\``
  if (node.enum) return node.enum.map((one) => `\`${String(one)}\``).join(', ')
  if (type === 'array') return items ? `list of ${typeOf(items)}` : 'list'
  if (type === 'object') return typeof named === 'object' ? `${typeOf(named)} by name` : 'object'
  return `${typeof type === 'string' ? type : 'any'}${range(node)}`
}

/** The bounds of a number. Those of the safe integers are left out, since every integer has them. */
function range({ minimum, exclusiveMinimum, maximum }: SettingNode): string {
  const bounds = [
    ...(minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? [`≥ ${minimum}`] : []),
    ...(exclusiveMinimum === undefined ? [] : [`> ${exclusiveMinimum}`]),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? [`≤ ${maximum}`] : []),
  ]
  return bounds.length > 0 ? ` ${bounds.join(', ')}` : ''
}

const alternatives = (node: SettingNode): readonly SettingNode[] => node.anyOf ?? node.oneOf ?? []
