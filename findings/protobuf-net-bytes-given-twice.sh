#!/usr/bin/env bash
# A singular field of bytes that occurs twice in one message.
#
# Guess:    the last value counts, as the encoding of protobuf says of singular fields, and as Google.Protobuf and protobuf-net's own fields
#           of string do.
# Behavior: protobuf-net appends the second value to the first one. With OverwriteList on the member, the last value counts.
# Seen:     protobuf-net 3.4.40, Google.Protobuf 3.36.2 (BytesValue), .NET 10.0.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cat > "$folder/app.cs" <<'CS'
#:package protobuf-net@3.4.40
#:package Google.Protobuf@3.36.2
#:property PublishAot=false
using Google.Protobuf.WellKnownTypes;
using ProtoBuf;

// Field 1: "a", and then "b".
byte[] twice = [0x0A, 0x01, 0x61, 0x0A, 0x01, 0x62];
Console.WriteLine($"string: {Serializer.Deserialize<Text>(new MemoryStream(twice)).Value}");
Console.WriteLine($"bytes: {Show(Serializer.Deserialize<Bytes>(new MemoryStream(twice)).Value)}");
Console.WriteLine($"bytes with OverwriteList: {Show(Serializer.Deserialize<LastBytes>(new MemoryStream(twice)).Value)}");
Console.WriteLine($"Google.Protobuf: {BytesValue.Parser.ParseFrom(twice).Value.ToStringUtf8()}");

static string Show(byte[] bytes) => System.Text.Encoding.ASCII.GetString(bytes);

[ProtoContract]
public sealed class Text
{
    [ProtoMember(1)]
    public string Value { get; set; } = "";
}

[ProtoContract]
public sealed class Bytes
{
    [ProtoMember(1)]
    public byte[] Value { get; set; } = [];
}

[ProtoContract]
public sealed class LastBytes
{
    [ProtoMember(1, OverwriteList = true)]
    public byte[] Value { get; set; } = [];
}
CS
seen=$(cd "$folder" && dotnet run app.cs)
echo "$seen"
expected=$'string: b\nbytes: ab\nbytes with OverwriteList: b\nGoogle.Protobuf: b'
if [ "$seen" = "$expected" ]; then
    echo "as found: protobuf-net appends bytes that are given twice"
else
    echo "changed: expected"
    echo "$expected"
    exit 1
fi
