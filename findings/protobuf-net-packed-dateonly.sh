#!/usr/bin/env bash
# A list of DateOnly, which protobuf-net writes as numbers of days (varints), and its packed form.
#
# Guess:    a reader takes a repeated scalar in both forms, packed and not, as the encoding of protobuf says of parsers, and as protobuf-net
#           does for a list of int.
# Behavior: protobuf-net writes the list unpacked and refuses the packed form.
# Seen:     protobuf-net 3.4.40, .NET 10.0.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cat > "$folder/app.cs" <<'CS'
#:package protobuf-net@3.4.40
#:property PublishAot=false
using ProtoBuf;

byte[] packed = [0x0A, 0x02, 0x07, 0x08];
Console.WriteLine($"int packed: {Try<Numbers>(packed, value => string.Join(' ', value.All))}");
Console.WriteLine($"DateOnly packed: {Try<Days>(packed, value => string.Join(' ', value.All.Select(day => day.DayNumber)))}");
using var stream = new MemoryStream();
Serializer.Serialize(stream, new Days { All = [DateOnly.FromDayNumber(7), DateOnly.FromDayNumber(8)] });
Console.WriteLine($"DateOnly written: {Convert.ToHexString(stream.ToArray())}");

static string Try<T>(byte[] bytes, Func<T, string> show)
{
    try
    {
        return show(Serializer.Deserialize<T>(new MemoryStream(bytes)));
    }
    catch (Exception exception)
    {
        return exception.GetType().Name;
    }
}

[ProtoContract]
public sealed class Numbers
{
    [ProtoMember(1)]
    public List<int> All { get; set; } = [];
}

[ProtoContract]
public sealed class Days
{
    [ProtoMember(1)]
    public List<DateOnly> All { get; set; } = [];
}
CS
seen=$(cd "$folder" && dotnet run app.cs)
echo "$seen"
expected=$'int packed: 7 8\nDateOnly packed: ProtoException\nDateOnly written: 08070808'
if [ "$seen" = "$expected" ]; then
    echo "as found: the packed form of a list of int is read, that of a list of DateOnly is refused"
else
    echo "changed: expected"
    echo "$expected"
    exit 1
fi
