import { describe } from 'vitest'
import { engineConformance } from './conformance/engines.ts'
import { logConformance } from './conformance/logs.ts'
import { storeConformance } from './conformance.ts'
import { openLevel } from './level.ts'

describe('the level engine', () => {
  storeConformance(openLevel)
})

describe('the level engine with small blocks, which only logs have', () => {
  const open = (folder: string) => openLevel(folder, { logFormat: { chunkRows: 4, blockRows: 16 } })
  engineConformance(open)
  logConformance(open)
})
