-- A Wireshark dissector for QuickSilver: packets between nodes, discovery, and the frames between a node and the membership service.
-- The format is docs/wire-format.md; sections below carry its headings.
--
--   wireshark -X lua_script:tools/wireshark/quicksilver.lua
--   tshark -X lua_script:tools/wireshark/quicksilver.lua -r capture.pcapng -Y quicksilver
--
-- Ports are chosen by the system, so packets are found by their form: version, kind, length and reserved bytes of the header. A run that
-- was sent with segmentation offload and captured on loopback or a veth is one large datagram; it is split by the length in each header.
--
-- Names of topics: a packet has the FNV-1a hash of a name. Names are learned from the frames of a capture in which connections to the
-- membership service are not encrypted, and taken from the preference "quicksilver.topics". What is sealed stays so: of a sealed packet
-- the header and the trailer are shown.

local HEADER_BYTES = 64
local VERSION = 3
local TRAILER_BYTES = 36
local MAX_FRAME_BYTES = 4 * 1024 * 1024

local quicksilver = Proto("quicksilver", "QuickSilver")

quicksilver.prefs.topics = Pref.string("Topics", "", "Names of topics, separated by commas: their ids are shown as names.")

local KINDS = {
    [1] = "Data", [2] = "Announce", [3] = "Token", [4] = "Pull", [5] = "Ack", [6] = "Probe", [7] = "Probe reply", [8] = "Credit",
    [9] = "Echo", [10] = "Echo reply", [11] = "Hearing", [12] = "Pause", [13] = "Shared data", [14] = "Piece",
}
local CLASSES = { [0] = "reliable", [1] = "best effort", [2] = "reliable 1", [4] = "reliable 2", [6] = "reliable 3" }
local WORDS = {
    [0] = "probe", [1] = "asks", [2] = "deaf", [3] = "hears", [4] = "served", [5] = "unserved", [6] = "no groups",
    [7] = "deaf to a topic",
}
local CAUSES = { [0] = "the process was not run", [1] = "the garbage collector", [2] = "the JIT compiler", [3] = "a step of its own" }
local DISCOVERY_KINDS = { [1] = "question", [2] = "answer", [3] = "claim" }
local EXTENSIONS = {
    [1] = "publish time", [2] = "order stamp", [3] = "trace context", [4] = "filter attributes", [5] = "correlation id",
    [6] = "header",
}
local FRAMES = {
    [1] = "Join", [2] = "JoinComplete", [3] = "SetTopic", [4] = "CloseTopic", [5] = "Confirm", [6] = "Heartbeat", [7] = "Suspect",
    [8] = "Leave", [9] = "Resync", [10] = "Findings", [11] = "Watch", [12] = "Snapshot", [13] = "Paused", [14] = "ListTopics",
    [15] = "FollowTopics", [17] = "Welcome", [18] = "Refused", [19] = "Configuration", [20] = "TopicOutcome", [21] = "Settled",
    [22] = "Expelled", [23] = "HeartbeatReply", [24] = "Goodbye", [25] = "Left", [26] = "Inquiry", [27] = "SnapshotQuestion",
    [28] = "ClusterSnapshot", [29] = "MemberSnapshot", [30] = "TopicList", [31] = "ListedTopic", [32] = "FollowedTopics", [33] = "Waiting",
}

local f = {
    version = ProtoField.uint8("quicksilver.version", "Version"),
    kind = ProtoField.uint8("quicksilver.kind", "Kind", base.DEC, KINDS),
    flags = ProtoField.uint16("quicksilver.flags", "Flags", base.HEX),
    flag_final = ProtoField.bool("quicksilver.flags.final", "Final: nothing follows in this view", 16, nil, 0x0002),
    flag_soon = ProtoField.bool("quicksilver.flags.ack_soon", "An acknowledgement is wanted soon", 16, nil, 0x0004),
    flag_repair = ProtoField.bool("quicksilver.flags.repair", "Sent again", 16, nil, 0x0008),
    flag_shared = ProtoField.bool("quicksilver.flags.of_shared", "Made of a shared packet", 16, nil, 0x0010),
    flag_twice = ProtoField.bool("quicksilver.flags.twice", "Token that each member sends twice", 16, nil, 0x0020),
    length = ProtoField.uint16("quicksilver.length", "Length"),
    head_bytes = ProtoField.uint16("quicksilver.head_bytes", "Head bytes"),
    cluster = ProtoField.uint64("quicksilver.cluster", "Cluster", base.HEX),
    sender = ProtoField.uint64("quicksilver.sender", "Sender", base.HEX),
    incarnation = ProtoField.uint32("quicksilver.incarnation", "Incarnation"),
    view = ProtoField.uint32("quicksilver.view", "View"),
    region = ProtoField.uint64("quicksilver.region", "Region", base.HEX),
    sequence = ProtoField.int64("quicksilver.sequence", "Sequence"),
    epoch = ProtoField.uint32("quicksilver.epoch", "Key epoch"),
    checksum = ProtoField.uint32("quicksilver.checksum", "Checksum", base.HEX),
    head_distance = ProtoField.uint32("quicksilver.head_distance", "Head distance"),
    class = ProtoField.uint8("quicksilver.class", "Stream class", base.DEC, CLASSES),
    tag_bytes = ProtoField.uint8("quicksilver.tag_bytes", "Tag bytes"),
    reserved = ProtoField.uint16("quicksilver.reserved", "Reserved"),
    head = ProtoField.bytes("quicksilver.head", "Head: continues a message"),
    body = ProtoField.bytes("quicksilver.body", "Body"),
    sealed = ProtoField.bytes("quicksilver.sealed", "Encrypted body"),
    padding = ProtoField.bytes("quicksilver.padding", "Padding"),

    trailer_sender = ProtoField.uint64("quicksilver.trailer.sender", "Sealed by", base.HEX),
    trailer_incarnation = ProtoField.uint32("quicksilver.trailer.incarnation", "Incarnation"),
    trailer_counter = ProtoField.uint64("quicksilver.trailer.counter", "Counter"),
    trailer_tag = ProtoField.bytes("quicksilver.trailer.tag", "Tag"),

    topic = ProtoField.uint64("quicksilver.topic", "Topic", base.HEX),
    topic_name = ProtoField.string("quicksilver.topic.name", "Topic name"),
    number = ProtoField.int64("quicksilver.message.number", "Number"),
    payload_length = ProtoField.uint32("quicksilver.message.length", "Payload length"),
    payload = ProtoField.bytes("quicksilver.message.payload", "Payload"),
    start_configuration = ProtoField.int64("quicksilver.start.configuration", "Configuration"),
    start_first = ProtoField.int64("quicksilver.start.first", "First number"),
    extension = ProtoField.uint8("quicksilver.extension", "Extension", base.DEC, EXTENSIONS),
    extension_bytes = ProtoField.bytes("quicksilver.extension.value", "Value"),
    correlation = ProtoField.string("quicksilver.extension.correlation", "Correlation id"),

    of_sender = ProtoField.uint64("quicksilver.of.sender", "Stream of", base.HEX),
    of_incarnation = ProtoField.uint32("quicksilver.of.incarnation", "Incarnation"),
    round = ProtoField.int64("quicksilver.token.round", "Round"),
    level = ProtoField.uint8("quicksilver.token.level", "Level of the ring"),
    records = ProtoField.uint16("quicksilver.token.records", "Recovery records"),
    token_flags = ProtoField.uint8("quicksilver.token.flags", "Token flags", base.HEX),
    no_room = ProtoField.int64("quicksilver.no_room", "Datagrams without room"),
    smallest_room = ProtoField.int64("quicksilver.smallest_room", "Smallest room of a member"),
    gone = ProtoField.uint64("quicksilver.gone", "Mark of members that are gone", base.HEX),
    stable = ProtoField.int64("quicksilver.stable", "Held by all"),
    consumed = ProtoField.int64("quicksilver.consumed", "Accepted by all"),
    read = ProtoField.int64("quicksilver.read", "Read by all"),
    nak_age = ProtoField.uint32("quicksilver.nak.age", "Age of the collective NAK (µs)"),
    range_first = ProtoField.int64("quicksilver.range.first", "First"),
    range_length = ProtoField.uint32("quicksilver.range.length", "Packets"),
    credit = ProtoField.int64("quicksilver.credit.through", "Accepted up to"),
    word = ProtoField.uint8("quicksilver.hearing.word", "Word", base.DEC, WORDS),
    pause_ms = ProtoField.uint32("quicksilver.pause.length", "Stood still for (ms)"),
    pause_ago = ProtoField.uint32("quicksilver.pause.ago", "Ended before (ms)"),
    pause_cause = ProtoField.uint8("quicksilver.pause.cause", "Cause", base.DEC, CAUSES),
    address4 = ProtoField.ipv4("quicksilver.address", "Address"),
    address6 = ProtoField.ipv6("quicksilver.address6", "Address"),
    port = ProtoField.uint16("quicksilver.port", "Port"),
    known_size = ProtoField.uint16("quicksilver.echo.size", "Largest packet known to pass"),
    piece_of = ProtoField.uint16("quicksilver.piece.of", "Bytes of the packet"),
    piece_size = ProtoField.uint16("quicksilver.piece.size", "Bytes of each piece"),
    piece_index = ProtoField.uint16("quicksilver.piece.index", "Piece"),
    listed_region = ProtoField.uint32("quicksilver.listed.region", "Lower half of the region", base.HEX),
    listed_view = ProtoField.uint32("quicksilver.listed.view", "View"),
    listed_sequence = ProtoField.uint32("quicksilver.listed.sequence", "Sequence"),

    discovery_kind = ProtoField.uint8("quicksilver.discovery.kind", "Discovery", base.DEC, DISCOVERY_KINDS),
    discovery_version = ProtoField.uint8("quicksilver.discovery.version", "Version of the control protocol"),
    discovery_sealed = ProtoField.bool("quicksilver.discovery.sealed", "Has a tag"),
    discovery_nonce = ProtoField.uint64("quicksilver.discovery.nonce", "Nonce", base.HEX),
    discovery_configuration = ProtoField.int64("quicksilver.discovery.configuration", "Configuration"),
    discovery_host = ProtoField.uint64("quicksilver.discovery.host", "Host id", base.HEX),
    discovery_members = ProtoField.int32("quicksilver.discovery.members", "Members"),
    discovery_token = ProtoField.uint64("quicksilver.discovery.token", "Token", base.HEX),
    discovery_tag = ProtoField.bytes("quicksilver.discovery.tag", "Tag"),

    frame = ProtoField.uint8("quicksilver.frame", "Frame", base.DEC, FRAMES),
    frame_length = ProtoField.uint32("quicksilver.frame.length", "Frame length"),
    frame_body = ProtoField.bytes("quicksilver.frame.body", "Message (protobuf)"),
}

local fields = {}
for _, field in pairs(f) do
    fields[#fields + 1] = field
end
quicksilver.fields = fields

local malformed = ProtoExpert.new(
    "quicksilver.malformed", "Not as the wire format says", expert.group.MALFORMED, expert.severity.ERROR)
quicksilver.experts = { malformed }

-- Topic names by the text of their id.
local learned = {}

-- Names are hashed with FNV-1a in 64 bits. Numbers of Lua have 53, so the hash is kept in four parts of 16 bits and multiplied by the prime
-- 2^40 + 0x1B3.
local function fnv1a(text)
    local a, b, c, d = 0x2325, 0x8422, 0x9CE4, 0xCBF2
    for i = 1, #text do
        a = bit.bxor(a, text:byte(i))
        local ra = a * 0x1B3
        local rb = b * 0x1B3
        local rc = c * 0x1B3 + a * 0x100
        local rd = d * 0x1B3 + b * 0x100
        rb = rb + math.floor(ra / 65536)
        rc = rc + math.floor(rb / 65536)
        rd = rd + math.floor(rc / 65536)
        a, b, c, d = ra % 65536, rb % 65536, rc % 65536, rd % 65536
    end
    return string.format("%04x%04x%04x%04x", d, c, b, a)
end

local function learn(name)
    learned[fnv1a(name)] = name
end

local function name_of(range)
    local id = range:le_uint64():tohex(16)
    if not learned[id] then
        for name in quicksilver.prefs.topics:gmatch("[^,]+") do
            learn((name:gsub("^%s+", ""):gsub("%s+$", "")))
        end
    end
    return learned[id]
end

-- A reader of one packet's bytes. `left` never becomes negative: what is not there is reported once, and ends the packet.
local Reader = {}
Reader.__index = Reader

local function reader_of(range, tree)
    return setmetatable({ range = range, at = 0, left = range:len(), tree = tree }, Reader)
end

function Reader:has(bytes)
    if self.left >= bytes then
        return true
    end
    self.tree:add_proto_expert_info(malformed, "The packet ends within a field.")
    self.left = 0
    return false
end

function Reader:take(bytes)
    local part = self.range(self.at, bytes)
    self.at = self.at + bytes
    self.left = self.left - bytes
    return part
end

-- Adds the field and returns its bytes, or nil at the end of the packet.
function Reader:add(field, bytes, tree)
    if not self:has(bytes) then
        return nil
    end
    local part = self:take(bytes)
    local item = (tree or self.tree):add_le(field, part)
    return part, item
end

function Reader:skip(bytes)
    return self:has(bytes) and self:take(bytes) or nil
end

function Reader:rest(field)
    if self.left > 0 then
        self.tree:add(field, self:take(self.left))
    end
end

local function add_topic(reader, tree)
    local part = reader:add(f.topic, 8, tree)
    if not part then
        return nil
    end
    local name = name_of(part)
    if name then
        tree:add(f.topic_name, part, name):set_generated()
    end
    return name or ("0x" .. part:le_uint64():tohex(16))
end

local function add_node(reader, tree)
    return reader:add(f.of_sender, 8, tree) and reader:add(f.of_incarnation, 4, tree)
end

local function add_ranges(reader, tree, count)
    for _ = 1, count do
        if not (reader:add(f.range_first, 8, tree) and reader:add(f.range_length, 4, tree)) then
            return
        end
    end
end

-- Messages in a data packet

local function add_start_table(reader, tree)
    local count = reader:skip(1)
    if not count then
        return
    end
    local start = tree:add(count, string.format("Start table: %d entries", count:uint()))
    for _ = 1, count:uint() do
        if not (reader:add(f.start_configuration, 8, start) and reader:add(f.start_first, 8, start)) then
            return
        end
    end
end

local function add_extensions(reader, tree)
    local total = reader:skip(1)
    if not total then
        return
    end
    local left = total:uint()
    while left >= 2 do
        local kind, item = reader:add(f.extension, 1, tree)
        local length = kind and reader:skip(1)
        if not length then
            return
        end
        local bytes = length:uint()
        local field = kind:uint() == 5 and f.correlation or f.extension_bytes
        if bytes > 0 then
            if not reader:has(bytes) then
                return
            end
            item:add(field, reader:take(bytes))
        end
        left = left - 2 - bytes
    end
end

local function add_message(reader)
    local word = reader.range(reader.at, 4):le_uint()
    local length = bit.band(word, 0x1FFFFFF)
    local tree = reader.tree:add(quicksilver, reader.range(reader.at), "Message")
    tree:add(f.payload_length, reader:take(4), length)
    local topic = add_topic(reader, tree)
    local number = topic and reader:add(f.number, 8, tree)
    if not number then
        return
    end
    if bit.band(word, 0x40000000) ~= 0 then
        add_start_table(reader, tree)
    end
    if bit.band(word, 0x20000000) ~= 0 then
        add_extensions(reader, tree)
    end
    local here = math.min(length, reader.left)
    if here > 0 then
        tree:add(f.payload, reader:take(here))
    end
    local goes_on = here < length and string.format(", %d bytes follow in the next packets", length - here) or ""
    tree:set_text(string.format("Message %s of %s, %d bytes%s", tostring(number:le_int64()), topic, length, goes_on))
end

local function dissect_data(reader, head_bytes)
    local head = math.min(head_bytes, reader.left)
    if head > 0 then
        reader.tree:add(f.head, reader:take(head))
    end
    while reader.left >= 4 do
        local word = reader.range(reader.at, 4):le_uint()
        if word == 0 then
            break
        end
        if word < 0x80000000 then
            reader.tree:add_proto_expert_info(malformed, "A message does not begin with bit 31 set.")
            break
        end
        add_message(reader)
    end
    reader:rest(f.padding)
end

-- Shared data

local function dissect_shared(reader, head_bytes)
    local packet = reader.range
    local bytes = packet:len()
    local entries = bytes >= 4 and packet(bytes - 2, 2):le_uint() or 0
    local list = entries * 12 + 4
    if bytes < list then
        reader.tree:add_proto_expert_info(malformed, "The list of regions is longer than the packet.")
        return
    end
    local used = packet(bytes - 4, 2):le_uint()
    local tree = reader.tree:add(quicksilver, packet(bytes - list, list), string.format("Regions: %d", used))
    local listed = reader_of(packet(bytes - list, list), tree)
    for _ = 1, math.min(used, entries) do
        listed:add(f.listed_region, 4)
        listed:add(f.listed_view, 4)
        listed:add(f.listed_sequence, 4)
    end
    if bytes > list then
        dissect_data(reader_of(packet(0, bytes - list), reader.tree), head_bytes)
    end
end

-- Control packets

local function dissect_pull(reader)
    local count = add_node(reader) and reader:skip(2)
    if count then
        add_ranges(reader, reader.tree, count:le_uint())
    end
end

local function dissect_token(reader)
    if not (reader:add(f.round, 8) and add_node(reader) and reader:add(f.no_room, 8) and reader:add(f.smallest_room, 8)
        and reader:add(f.records, 2) and add_node(reader) and reader:add(f.level, 1)) then
        return
    end
    local skipped = reader:skip(1)
    if skipped and reader:skip(4 * skipped:uint()) and reader:add(f.gone, 8) and reader:add(f.token_flags, 1) then
        reader:rest(f.body)
    end
end

local function dissect_ack(reader)
    if not (add_node(reader) and reader:add(f.stable, 8) and reader:add(f.consumed, 8) and reader:add(f.read, 8)
        and reader:add(f.no_room, 8) and reader:add(f.smallest_room, 8) and reader:add(f.gone, 8) and reader:add(f.nak_age, 4)) then
        return
    end
    local count = reader:skip(1)
    if count then
        add_ranges(reader, reader.tree, count:uint())
        reader:rest(f.body)
    end
end

local function dissect_credit(reader)
    local count = reader:skip(2)
    for _ = 1, count and count:le_uint() or 0 do
        if not (add_topic(reader, reader.tree) and reader:add(f.credit, 8)) then
            return
        end
    end
end

local function dissect_hearing(reader)
    local word = add_node(reader) and reader:add(f.word, 1)
    if word and word:uint() == 7 then
        add_topic(reader, reader.tree)
    end
end

local function dissect_pause(reader)
    if reader:add(f.pause_ms, 4) and reader:add(f.pause_ago, 4) then
        reader:add(f.pause_cause, 1)
    end
end

local function dissect_echo(reader)
    if not reader:has(26) then
        return
    end
    local v4, port, v6 = reader:take(4), reader:take(2), reader:take(2)
    local sixteen, size = reader:take(16), reader:take(2)
    if v6:le_uint() == 16 then
        reader.tree:add(f.address6, sixteen)
    else
        reader.tree:add(f.address4, v4)
    end
    reader.tree:add_le(f.port, port)
    reader.tree:add_le(f.known_size, size)
    reader:rest(f.padding)
end

local function dissect_piece(reader)
    if reader:add(f.piece_of, 2) and reader:add(f.piece_size, 2) and reader:add(f.piece_index, 2) and reader:skip(2) then
        reader:rest(f.body)
    end
end

local function dissect_padding(reader)
    reader:rest(f.padding)
end

local BODIES = {
    [1] = dissect_data, [2] = dissect_padding, [3] = dissect_token, [4] = dissect_pull, [5] = dissect_ack, [6] = dissect_padding,
    [7] = dissect_padding, [8] = dissect_credit, [9] = dissect_echo, [10] = dissect_padding, [11] = dissect_hearing,
    [12] = dissect_pause, [13] = dissect_shared, [14] = dissect_piece,
}

-- Packet header (64 bytes)

-- The length of the packet that begins at `at`, or nil if none does.
local function packet_at(buffer, at)
    if buffer:len() - at < HEADER_BYTES then
        return nil
    end
    local length = buffer(at + 4, 2):le_uint()
    local is_packet = buffer(at, 1):uint() == VERSION and KINDS[buffer(at + 1, 1):uint()] ~= nil
        and length >= HEADER_BYTES and length <= buffer:len() - at
        and buffer(at + 62, 2):le_uint() == 0 and buffer(at + 60, 1):uint() <= 1
        and (buffer(at + 61, 1):uint() == 0 or buffer(at + 61, 1):uint() == TRAILER_BYTES)
    return is_packet and length or nil
end

local function dissect_trailer(range, tree)
    local trailer = reader_of(range, tree:add(quicksilver, range, "Trailer"))
    trailer:add(f.trailer_sender, 8)
    trailer:add(f.trailer_incarnation, 4)
    trailer:add(f.trailer_counter, 8)
    trailer:rest(f.trailer_tag)
end

local function dissect_packet(range, root)
    local kind = range(1, 1):uint()
    local tree = root:add(quicksilver, range, "QuickSilver, " .. KINDS[kind])
    local header = reader_of(range(0, HEADER_BYTES), tree)
    header:add(f.version, 1)
    header:add(f.kind, 1)
    local flags = header:add(f.flags, 2)
    for _, flag in ipairs({ f.flag_final, f.flag_soon, f.flag_repair, f.flag_shared, f.flag_twice }) do
        tree:add_le(flag, flags)
    end
    header:add(f.length, 2)
    local head_bytes = header:add(f.head_bytes, 2):le_uint()
    header:add(f.cluster, 8)
    header:add(f.sender, 8)
    header:add(f.incarnation, 4)
    header:add(f.view, 4)
    header:add(f.region, 8)
    header:add(f.sequence, 8)
    header:add(f.epoch, 4)
    header:add(f.checksum, 4)
    header:add(f.head_distance, 4)
    header:add(f.class, 1)
    header:add(f.tag_bytes, 1)
    header:add(f.reserved, 2)

    local body_bytes = range:len() - HEADER_BYTES
    if range(61, 1):uint() == TRAILER_BYTES then
        local sealed = body_bytes - TRAILER_BYTES
        if sealed > 0 then
            tree:add(f.sealed, range(HEADER_BYTES, sealed))
        end
        if sealed >= 0 then
            dissect_trailer(range(range:len() - TRAILER_BYTES), tree)
        end
    elseif body_bytes > 0 then
        BODIES[kind](reader_of(range(HEADER_BYTES), tree), head_bytes)
    end
    return KINDS[kind], range(40, 8):le_int64()
end

local function dissect_packets(buffer, info, root)
    local at, packets = 0, 0
    local first, first_sequence, last_sequence
    while at < buffer:len() do
        local length = packet_at(buffer, at)
        if not length then
            break
        end
        local kind, sequence = dissect_packet(buffer(at, length), root)
        first = first or kind
        first_sequence = first_sequence or sequence
        last_sequence = sequence
        at = at + length
        packets = packets + 1
    end
    if packets == 0 then
        return 0
    end
    info.cols.protocol = "QuickSilver"
    if packets == 1 then
        info.cols.info = string.format("%s %s", first, tostring(first_sequence))
    else
        info.cols.info = string.format(
            "%s %s to %s (a run of %d packets)", first, tostring(first_sequence), tostring(last_sequence), packets)
    end
    return at
end

-- Discovery

local function is_discovery(buffer)
    return buffer:len() >= HEADER_BYTES and buffer(0, 4):string() == "QSD2" and DISCOVERY_KINDS[buffer(4, 1):uint()] ~= nil
end

local function dissect_discovery(buffer, info, root)
    local kind = DISCOVERY_KINDS[buffer(4, 1):uint()]
    local tree = root:add(quicksilver, buffer(), "QuickSilver, discovery: " .. kind)
    local reader = reader_of(buffer(), tree)
    reader:skip(4)
    reader:add(f.discovery_kind, 1)
    reader:add(f.discovery_version, 1)
    local has_tag = reader:add(f.discovery_sealed, 1):uint() == 1
    reader:skip(1)
    reader:add(f.cluster, 8)
    reader:add(f.discovery_nonce, 8)
    reader:add(f.discovery_configuration, 8)
    reader:add(f.discovery_host, 8)
    local v4 = reader:take(4)
    reader:add(f.port, 2)
    local is_v6 = reader:take(2):le_uint() == 16
    reader:add(f.discovery_members, 4)
    reader:skip(4)
    reader:add(f.discovery_token, 8)
    if not is_v6 then
        tree:add(f.address4, v4)
    elseif reader:has(16) then
        tree:add(f.address6, reader:take(16))
    end
    if has_tag then
        reader:rest(f.discovery_tag)
    end
    info.cols.protocol = "QuickSilver"
    info.cols.info = "Discovery: " .. kind
    return buffer:len()
end

-- Between a node and the membership service

-- A base-128 number at `at`: its value and where it ends, or nil.
local function varint(buffer, at)
    local value, scale = 0, 1
    for i = at, math.min(at + 4, buffer:len() - 1) do
        local byte = buffer(i, 1):uint()
        value = value + (byte % 128) * scale
        if byte < 128 then
            return value, i + 1
        end
        scale = scale * 128
    end
    return nil
end

-- The kind of the frame, and where its message begins; nil if this is no frame. A frame is an envelope with one field, whose length must
-- agree with that of the frame.
local function frame_kind(buffer)
    local frame = buffer(0, 4):le_uint()
    if frame < 2 or frame > MAX_FRAME_BYTES then
        return nil
    end
    local tag, after_tag = varint(buffer, 4)
    if not tag or tag % 8 ~= 2 or not FRAMES[math.floor(tag / 8)] then
        return nil
    end
    local length, body = varint(buffer, after_tag)
    if not length or body - 4 + length ~= frame then
        return nil
    end
    return math.floor(tag / 8), body
end

-- SetTopic has its name as field 2, TopicList's rows (ListedTopic) too.
local function learn_names(kind, buffer, body)
    if kind ~= 3 and kind ~= 31 then
        return
    end
    local at = body
    while at < buffer:len() do
        local tag
        tag, at = varint(buffer, at)
        if not tag then
            return
        end
        local wire, value = tag % 8, nil
        if wire == 0 then
            value, at = varint(buffer, at)
            if not value then
                return
            end
        elseif wire == 1 then
            at = at + 8
        elseif wire == 5 then
            at = at + 4
        elseif wire == 2 then
            value, at = varint(buffer, at)
            if not value or at + value > buffer:len() then
                return
            end
            if math.floor(tag / 8) == 2 and value > 0 then
                learn(buffer(at, value):string())
                return
            end
            at = at + value
        else
            return
        end
    end
end

local function dissect_frame(buffer, info, root)
    local kind, body = frame_kind(buffer)
    local tree = root:add(quicksilver, buffer(), "QuickSilver, " .. (kind and FRAMES[kind] or "not a frame"))
    tree:add_le(f.frame_length, buffer(0, 4))
    if not kind then
        tree:add_proto_expert_info(malformed, "The bytes are not a frame of the control protocol.")
        return buffer:len()
    end
    tree:add(f.frame, buffer(4, 1), kind)
    if body < buffer:len() then
        tree:add(f.frame_body, buffer(body))
    end
    learn_names(kind, buffer, body)
    info.cols.protocol = "QuickSilver"
    info.cols.info:append(" " .. FRAMES[kind])
    info.cols.info:fence()
    return buffer:len()
end

-- A length that no frame has would make Wireshark wait for bytes that never come: the rest is shown as what it is.
local function frame_length(buffer, _, at)
    local length = buffer(at, 4):le_uint()
    return length <= MAX_FRAME_BYTES and 4 + length or buffer:len() - at
end

function quicksilver.dissector(buffer, info, root)
    if info.port_type == 2 then
        info.cols.info:clear()
        return dissect_tcp_pdus(buffer, root, 4, frame_length, function(frame, frame_info, tree)
            return dissect_frame(frame, frame_info, tree)
        end)
    end
    if is_discovery(buffer) then
        return dissect_discovery(buffer, info, root)
    end
    return dissect_packets(buffer, info, root)
end

quicksilver:register_heuristic("udp", function(buffer, info, root)
    if is_discovery(buffer) then
        return dissect_discovery(buffer, info, root) > 0
    end
    return packet_at(buffer, 0) ~= nil and dissect_packets(buffer, info, root) > 0
end)

quicksilver:register_heuristic("tcp", function(buffer, info, root)
    if buffer:len() < 6 or not frame_kind(buffer) then
        return false
    end
    info.conversation = quicksilver
    return quicksilver.dissector(buffer, info, root) ~= nil
end)

DissectorTable.get("udp.port"):add_for_decode_as(quicksilver)
DissectorTable.get("tcp.port"):add_for_decode_as(quicksilver)
