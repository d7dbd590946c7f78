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
    summary: 'The public keys that verify what the gateway has signed, newest first',
    returns: z.object({ keys: z.array(key) }),
    handle: async () => ({ keys: await signing.keys() }),
  })

  route({
    method: 'post',
    path: '/api/signing-keys/rotate',
    access: 'admin',
    summary: 'Sign with a new key from now on; the keys before it still verify',
    status: 201,
    returns: key,
    handle: () => signing.rotate(),
  })
}
