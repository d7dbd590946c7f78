import { z } from 'zod'

/** They say how a message lies on its connection, so the transport writes them: with another's value no call could be sent. */
const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The name of a header that an operator may have sent with each call to a provider. */
export const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, { error: 'expected the name of a header' })
  .refine((name) => !ofConnection.has(name.toLowerCase()), {
    error: 'expected a header other than those of the connection itself',
  })
