import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port of 127.0.0.1 that was free a moment ago, for servers that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || !address) throw new Error('no port')
  return address.port
}
