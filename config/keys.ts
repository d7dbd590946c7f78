import { z } from 'zod'
import { schema } from './schema.ts'

export interface SchemaNode {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly additionalProperties?: SchemaNode | false
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
  readonly 'x-secret'?: boolean
}

/** A key of service.yaml. */
export interface ConfigKey {
  /** Dotted; `<name>` stands for a name the operator chooses, `[]` for each item: `providers.<name>.keys[].weight`. */
  readonly path: string
  readonly type: string
  readonly default: unknown
  readonly description: string
  /** Never shown: it is masked wherever configuration is listed or exported. */
  readonly secret: boolean
}

let made: SchemaNode | undefined

/** The JSON Schema of service.yaml, made when it is first asked for. Fields that hold secrets have `x-secret: true`. */
export function configJsonSchema(): SchemaNode {
  made ??= z.toJSONSchema(schema, { io: 'input' }) as SchemaNode
  return made
}

/** Every key of service.yaml that has a value of its own: the kernel's, and those in sections with these schemas. */
export function configKeys(...sections: readonly z.ZodType[]): ConfigKey[] {
  const schemas = sections.map((settings) => z.toJSONSchema(settings, { io: 'input' }) as SchemaNode)
  return [configJsonSchema(), ...schemas].flatMap((node) => leaves(node, ''))
}

function leaves(node: SchemaNode, path: string): ConfigKey[] {
  if (node.properties) {
    return Object.entries(node.properties).flatMap(([key, inner]) =>
      leaves(inner, path ? `${path}.${key}` : key),
    )
  }
  const inner = node.additionalProperties || undefined
  if (inner?.properties) return leaves(inner, `${path}.<name>`)
  if (node.items?.properties) return leaves(node.items, `${path}[]`)
  return [
    {
      path,
      type: node.type ?? 'text or number',
      default: node.default,
      description: node.description ?? '',
      secret: node['x-secret'] === true || inner?.['x-secret'] === true,
    },
  ]
}

/** The part of the schema that governs a path, if any does. */
export function schemaAt(root: SchemaNode, path: readonly string[]): SchemaNode | undefined {
  return path.reduce<SchemaNode | undefined>((node, key) => ofMany(node?.items ?? child(node, key)), root)
}

/** Of the forms that a value may have, such as null, the one that has parts. */
const ofMany = (node: SchemaNode | undefined): SchemaNode | undefined =>
  node?.anyOf?.find(({ properties, items }) => properties ?? items) ?? node

/** The part of an object's schema that governs one of its keys. */
export function child(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  if (node?.properties && Object.hasOwn(node.properties, key)) return node.properties[key]
  return node?.additionalProperties || undefined
}
