import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../../../config/config.ts'
import { explain } from '../../../kit/explain.ts'
import { findConfigured } from '../running.ts'
import { type Check, failed, ok, warning } from './result.ts'

/**
 * Whether the gateway could listen, or one does already; `running` is where the gateway of the data folder answers. One of another
 * data folder is no failure: whoever examines a backup has it beside the gateway that it is of.
 */
export async function checkPort(
  { host, port }: Pick<Config, 'host' | 'port'>,
  running: string | undefined,
): Promise<Check> {
  if (running !== undefined) return ok('port', `A gateway already listens on ${running}.`)
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
    const message = port === 0 ? 'The start picks a free one.' : `${port} on ${host} is free.`
    return ok('port', message)
  } catch (error) {
    const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    if (!inUse) return failed('port', explain(error))
    const other = await findConfigured({ host, port })
    if (other !== undefined) return warning('port', `A gateway with another data folder listens on ${other}.`)
    const what = `${port} on ${host} is in use by another program.`
    return failed('port', `${what} Stop it, or choose another with SERVICE_PORT.`)
  } finally {
    server.close()
  }
}
