import { createHash } from 'node:crypto'
import { secretToken } from '#kernel'

/** Logs and audit events mask what begins so. */
const prefix = 'sy_share_'

/** The secret part of a new link, with 256 random bits. */
export const newSecret = (): string => prefix + secretToken()

/** What the store knows of a link. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')
