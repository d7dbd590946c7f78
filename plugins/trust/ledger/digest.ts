import { hash } from 'node:crypto'
import { repairedJson } from '#kit'

/** The SHA-256 of the canonical JSON (RFC 8785) of some JSON, repaired where it has no such form, in hexadecimal. */
export const digestOf = (json: string): string => hash('sha256', repairedJson(JSON.parse(json)))
