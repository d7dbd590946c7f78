import { z } from 'zod'
import type { Context, Signing } from '#kernel'

const key = z.object({
  id: z.string().meta({ description: 'The JWK thumbprint (RFC 7638) of the key.' }),
  algorithm: z.literal('Ed25519'),
  public_key: z.string().meta({ description: 'SubjectPublicKeyInfo in PEM.' }),
  created_at: z.string(),
  retired_at: z.string().optional(),
})

/** The keys by which signatures of this gateway are checked. */
export function addKeyRoutes({ route }: Context<unknown>, signing: Signing): void {
  route({
    method: 'get',
    path: '/api/signing-keys',
    access: 'any',
    summary: 'List the public keys that verify signatures of the gateway, newest first',
    returns: z.object({ keys: z.array(key) }),
    handle: async () => ({ keys: await signing.keys() }),
  })

  route({
    method: 'post',
    path: '/api/signing-keys/rotate',
    access: 'admin',
    summary: 'Make a new signing key; earlier keys still verify',
    status: 201,
    returns: key,
    handle: () => signing.rotate(),
  })
}
