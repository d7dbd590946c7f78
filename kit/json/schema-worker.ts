import { parentPort } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { RpcPort } from '../../storage/shared/rpc-port.ts'
import { readSchema, type SchemaCheck } from './schema-check.ts'
import type { SchemaAnswer, SchemaMethods, SchemaTask } from './schemas.ts'

/** What was read last: most schemas come with each call of a client. */
const known = new LRUCache<string, SchemaCheck>({ max: 100 })

function checkOf({ schema, coerce }: SchemaTask): SchemaCheck {
  const key = `${coerce} ${schema}`
  const check = known.get(key) ?? readSchema(JSON.parse(schema), coerce)
  known.set(key, check)
  return check
}

function answer(task: SchemaTask): SchemaAnswer {
  try {
    const check = checkOf(task)
    if (!task.given) return { problems: [], value: undefined }
    const { value } = task.given
    return { problems: check(value), value: task.coerce ? value : undefined }
  } catch (error) {
    return { unusable: (error as Error).message }
  }
}

/** The thread in which schemas are read that others should not wait for. */
new RpcPort<Record<never, never>, SchemaMethods>(parentPort!, { answer })
