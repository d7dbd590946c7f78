import { newId } from '#kernel'
import { type End, noHash } from './end.ts'

/** What the first entry of a new ledger follows. */
export const newLedger = (): End => ({ ledger: newId('ldg_'), seq: 0, hash: noHash, created_at: '' })
