"""Lua scripts are the steps that Redis must do in one piece: nothing is ever removed from one place and put nowhere.

A connection that breaks before a script runs changes nothing; one that breaks after it has run lost only the answer,
and running it again finds the delivery gone and does nothing.

Each script writes with a command that frees memory first. A full server (``maxmemory``, ``noeviction``) refuses
commands that need memory, but only as the *first* write of a script: so a full server can still be worked off.
Times are the server's own (``TIME``), so the clocks of the workers do not matter.
Needs Redis 6.2 or Valkey. Source: Redis manual, "Scripting with Lua" and "EVAL".
"""

from typing import Final

from baton_messaging.broker.bounds import SAMPLE_BYTES

#: One delivery: end those whose acks ride along, then pop a message and keep it unacked under a tag of its own,
#: ``<queue>:<unique>``. Returns the tags that were unacked no longer, and queue, tag, message if there was one.
#: The unique part grows with time: renewed together, deliveries are as old as each other, and only their tags tell
#: in which order they go back.
#: Where more is left, the next worker is notified (notify.py).
#: Of a message that is too large its beginning is kept, which is no JSON: nothing of the rest ever leaves the server.
#: A list that is none (WRONGTYPE) harms no other: it is told only when there is nothing else.
#: KEYS: unacked, index, then per list its key and its notification. ARGV: unique, bytes at most, then per list its
#: queue and "ack" or "no ack", then the tags of the acks.
DEQUEUE: Final = f"""
local function notify_of_the_rest(first)
  for i = first, #KEYS, 2 do
    if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('ZADD', KEYS[i + 1], 0, '') end
  end
end
local lost, refused = {{}}, nil
for i = #KEYS + 1, #ARGV do
  redis.call('ZREM', KEYS[2], ARGV[i])
  if redis.call('HDEL', KEYS[1], ARGV[i]) == 0 then lost[#lost + 1] = ARGV[i] end
end
for i = 3, #KEYS, 2 do
  local raw = redis.pcall('RPOP', KEYS[i])
  if type(raw) == 'table' then
    refused = raw
  elseif raw then
    local queue, mode, size = ARGV[i], ARGV[i + 1], string.len(raw)
    if size > tonumber(ARGV[2]) then
      raw = string.sub(raw, 1, {SAMPLE_BYTES})
      raw = raw .. ' … cut: ' .. size .. ' bytes in all, too large to be read'
    end
    local tag = queue .. ':' .. ARGV[1]
    if mode == 'ack' then
      local now = redis.call('TIME')
      redis.call('HSET', KEYS[1], tag, '[' .. raw .. ',"",' .. cjson.encode(queue) .. ']')
      redis.call('ZADD', KEYS[2], now[1] + now[2] / 1000000, tag)
    end
    notify_of_the_rest(i)
    return {{lost, queue, tag, raw}}
  end
end
return refused or {{lost}}
"""

#: End a delivery whose work is done; return 1 if it was still unacked.
#: KEYS: unacked, index. ARGV: tag.
FORGET: Final = """
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
"""

#: Renew the leases of deliveries; return the tags of those that are unacked no longer.
#: KEYS: index. ARGV: tags.
RENEW: Final = """
local now = redis.call('TIME')
local lost = {}
for _, tag in ipairs(ARGV) do
  if redis.call('ZREM', KEYS[1], tag) == 1 then
    redis.call('ZADD', KEYS[1], now[1] + now[2] / 1000000, tag)
  else
    lost[#lost + 1] = tag
  end
end
return lost
"""

#: End a delivery and put its message into a list, if the delivery is still unacked; return 1 if it was.
#: KEYS: unacked, index, list, notification. ARGV: tag, message, "head" or "tail", lease in seconds (empty: of any age).
MOVE: Final = """
if ARGV[4] ~= '' then
  local now = redis.call('TIME')
  local renewed = redis.call('ZSCORE', KEYS[2], ARGV[1])
  if renewed and tonumber(renewed) > now[1] + now[2] / 1000000 - ARGV[4] then return 0 end
end
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call(ARGV[3] == 'head' and 'RPUSH' or 'LPUSH', KEYS[3], ARGV[2])
redis.call('ZADD', KEYS[4], 0, '')
return 1
"""

#: List deliveries whose lease has run out, youngest first, as tag, delivery, tag, delivery …
#: KEYS: unacked, index. ARGV: lease in seconds, how many at most.
OVERDUE: Final = """
local now = redis.call('TIME')
local ceiling = now[1] + now[2] / 1000000 - ARGV[1]
local found = {}
for _, tag in ipairs(redis.call('ZRANGE', KEYS[2], ceiling, 0, 'BYSCORE', 'REV', 'LIMIT', 0, ARGV[2])) do
  local delivery = redis.call('HGET', KEYS[1], tag)
  if delivery then
    found[#found + 1] = tag
    found[#found + 1] = delivery
  else
    redis.call('ZREM', KEYS[2], tag)
  end
end
return found
"""
