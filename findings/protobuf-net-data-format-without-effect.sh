#!/usr/bin/env bash
# DataFormat on a member whose type has no such format: ZigZag on an enumeration, FixedSize on a DateOnly.
#
# Guess:    the format changes the bytes, as it does for int, or the model refuses the member.
# Behavior: it has no effect, and no error. A negative value of the enumeration takes 10 bytes in place of 1.
# Seen:     protobuf-net 3.4.40, .NET 10.0.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cat > "$folder/app.cs" <<'CS'
#:package protobuf-net@3.4.40
#:property PublishAot=false
using ProtoBuf;

Console.WriteLine($"int ZigZag: {Bytes(new Number { Value = -1 })}");
Console.WriteLine($"enum ZigZag: {Bytes(new Side { Value = Sign.Minus })}");
Console.WriteLine($"int FixedSize: {Bytes(new Fixed { Value = 7 })}");
Console.WriteLine($"DateOnly FixedSize: {Bytes(new Day { Value = DateOnly.FromDayNumber(7) })}");

static string Bytes<T>(T value)
{
    using var stream = new MemoryStream();
    Serializer.Serialize(stream, value);
    return Convert.ToHexString(stream.ToArray());
}

public enum Sign
{
    Minus = -1,
    Zero = 0,
}

[ProtoContract]
public sealed class Number
{
    [ProtoMember(1, DataFormat = DataFormat.ZigZag)]
    public int Value { get; set; }
}

[ProtoContract]
public sealed class Side
{
    [ProtoMember(1, DataFormat = DataFormat.ZigZag)]
    public Sign Value { get; set; }
}

[ProtoContract]
public sealed class Fixed
{
    [ProtoMember(1, DataFormat = DataFormat.FixedSize)]
    public int Value { get; set; }
}

[ProtoContract]
public sealed class Day
{
    [ProtoMember(1, DataFormat = DataFormat.FixedSize)]
    public DateOnly Value { get; set; }
}
CS
seen=$(cd "$folder" && dotnet run app.cs)
echo "$seen"
expected=$'int ZigZag: 0801\nenum ZigZag: 08FFFFFFFFFFFFFFFFFF01\nint FixedSize: 0D07000000\nDateOnly FixedSize: 0807'
if [ "$seen" = "$expected" ]; then
    echo "as found: the formats of an enumeration and of a DateOnly are ignored"
else
    echo "changed: expected"
    echo "$expected"
    exit 1
fi
