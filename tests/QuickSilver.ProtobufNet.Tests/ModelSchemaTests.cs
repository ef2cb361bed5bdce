using System.ComponentModel;
using System.Runtime.Serialization;
using System.Text;
using ProtoBuf;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.ProtobufNet.Tests;

// What changes protobuf-net's bytes changes the schema. Where the words have a form in JSON, the bytes are read by it.
public sealed class ModelSchemaTests
{
    [Fact]
    public void Formats_have_words_of_their_own_by_which_the_bytes_are_read()
    {
        Assert.Equal(
            [
                "1 sint32", "2 sfixed32", "3 fixed64", "4 sfixed32", "5 fixed32", "6 sint64", "7 int32", "8 int32", "9 sfixed64",
                "10 sfixed64", "11 repeated sint32", "12 map<sint32, sfixed32>", "13 uint32", "14 int64",
            ],
            Words<Formats>());
        var value = new Formats
        {
            ZigZag = -1,
            Fixed = -2,
            FixedLong = 3,
            FixedShort = -4,
            FixedByte = 5,
            ZigZagLong = -6,
            ZigZagEnum = DayOfWeek.Friday,
            FixedDay = DateOnly.FromDayNumber(8),
            FixedSpan = TimeSpan.FromTicks(9),
            FixedTime = DateTime.UnixEpoch.AddTicks(10),
            List = [-11],
            Map = new() { [-12] = -13 },
            FixedChar = 'a',
            FixedTimeOfDay = new TimeOnly(14),
        };
        Assert.Equal(
            """{"ZigZag":-1,"Fixed":-2,"FixedLong":3,"FixedShort":-4,"FixedByte":5,"ZigZagLong":-6"""
            + ""","ZigZagEnum":"Friday","FixedDay":"0001-01-09","FixedSpan":9,"FixedTime":10,"List":[-11],"Map":{"-12":-13}"""
            + ""","FixedChar":"a","FixedTimeOfDay":"00:00:00.0000014"}""",
            Json(value));
    }

    [Fact]
    public void Levels_have_words_of_their_own()
    {
        Assert.Equal(
            [
                "1 string", "2 bytes", "3 string", "4 google.protobuf.Duration", "5 google.protobuf.Timestamp", "6 repeated string",
            ],
            Words<Level300>());
        Assert.Equal(["1 google.protobuf.Duration", "2 bcl.TimeSpan", "3 bcl.Guid", "4 google.protobuf.Timestamp"], Words<Level240>());
        Assert.Contains("\"Price\":\"1.5\"", Json(new Level300 { Price = 1.5m }), StringComparison.Ordinal);
    }

    [Fact]
    public void Conditions_and_wrappers_are_in_brackets() => Assert.Equal(
        [
            "1 int32 [default = 5]", "2 int32", "3 int32 [if ShouldSerializeMaybe]", "4 int32 [if CountSpecified]", "5 group",
            "6 repeated group", "7 repeated int32 [null wrapped]", "8 repeated int32 [null wrapped collection]", "9 int32",
            "10 map<string, int32>",
        ],
        Words<Conditions>());

    [Fact]
    public void The_numbers_are_those_that_protobuf_net_writes()
    {
        Assert.Equal(["4 string", "7 int32"], Words<BothAttributes>());
        Assert.Equal(["1 int32"], Words<Ignoring>());
        Assert.Equal(["1 int32", "2 string"], Words<Implicit>());
        Assert.Equal(["4 int32"], Words<WithSurrogate>());
        Assert.Equal(["1 repeated message"], Words<List<Leg>>());
        Assert.Equal(["1 int64"], Words<long>());
    }

    [Fact]
    public void A_subtype_is_a_field_whose_word_says_where_inherited_members_are()
    {
        Assert.Equal(["3 message", "4 message"], Words<IShape>());
        Assert.Equal(["1 string", "3 message [members of Vehicle are beside it]"], Words<Vehicle>());
        // On a topic of its own, too, it is written as a message of its base.
        Assert.Equal(Words<Vehicle>(), Words<Car>());
        Assert.Equal("""{"Plate":"B","Car":{"Doors":4}}""", Json(new Car { Plate = "B", Doors = 4 }));
    }

    [Fact]
    public void The_internals_of_the_model_are_found()
    {
        Assert.NotNull(ModelInternals.Surrogate);
        Assert.NotNull(ModelInternals.Factory);
        Assert.NotNull(ModelInternals.Specified);
    }

    private static List<string> Words<T>() =>
        [.. new ProtobufNetCodec<T>().Schema.Fields.Select(static field => $"{field.Number} {field.Type}")];

    private static string Json<T>(T value)
    {
        var codec = new ProtobufNetCodec<T>();
        byte[] bytes = new byte[codec.GetSize(in value)];
        codec.Write(in value, bytes);
        using var json = new PayloadToJson(new DynamicSchema(codec.Schema));
        return Encoding.UTF8.GetString(json.Convert(bytes).Span);
    }

    [ProtoContract]
    public sealed class Formats
    {
        [ProtoMember(1, DataFormat = DataFormat.ZigZag)] public int ZigZag { get; set; }
        [ProtoMember(2, DataFormat = DataFormat.FixedSize)] public int Fixed { get; set; }
        [ProtoMember(3, DataFormat = DataFormat.FixedSize)] public ulong FixedLong { get; set; }
        [ProtoMember(4, DataFormat = DataFormat.FixedSize)] public short FixedShort { get; set; }
        [ProtoMember(5, DataFormat = DataFormat.FixedSize)] public byte FixedByte { get; set; }
        [ProtoMember(6, DataFormat = DataFormat.ZigZag)] public long ZigZagLong { get; set; }
        [ProtoMember(7, DataFormat = DataFormat.ZigZag)] public DayOfWeek ZigZagEnum { get; set; }
        [ProtoMember(8, DataFormat = DataFormat.FixedSize)] public DateOnly FixedDay { get; set; }
        [ProtoMember(9, DataFormat = DataFormat.FixedSize)] public TimeSpan FixedSpan { get; set; }
        [ProtoMember(10, DataFormat = DataFormat.FixedSize)] public DateTime FixedTime { get; set; }
        [ProtoMember(11, DataFormat = DataFormat.ZigZag)] public List<int> List { get; set; } = [];

        [ProtoMember(12), ProtoMap(KeyFormat = DataFormat.ZigZag, ValueFormat = DataFormat.FixedSize)]
        public Dictionary<int, int> Map { get; set; } = [];

        [ProtoMember(13, DataFormat = DataFormat.FixedSize)] public char FixedChar { get; set; }
        [ProtoMember(14, DataFormat = DataFormat.FixedSize)] public TimeOnly FixedTimeOfDay { get; set; }
    }

    [ProtoContract, CompatibilityLevel(CompatibilityLevel.Level300)]
    public sealed class Level300
    {
        [ProtoMember(1)] public Guid Id { get; set; }
        [ProtoMember(2, DataFormat = DataFormat.FixedSize)] public Guid BytesOfId { get; set; }
        [ProtoMember(3)] public decimal Price { get; set; }
        [ProtoMember(4)] public TimeSpan Took { get; set; }
        [ProtoMember(5)] public DateTime At { get; set; }
        [ProtoMember(6)] public List<decimal> Prices { get; set; } = [];
    }

    [DataContract, CompatibilityLevel(CompatibilityLevel.Level240)]
    public sealed class Level240
    {
        [DataMember(Order = 1)] public TimeSpan Took { get; set; }

        [DataMember(Order = 2), CompatibilityLevel(CompatibilityLevel.Level200)]
        public TimeSpan Older { get; set; }

        [DataMember(Order = 3)] public Guid Id { get; set; }
        [DataMember(Order = 4)] public DateTime? At { get; set; }
    }

    [DataContract]
    public sealed class Conditions
    {
        [DataMember(Order = 1), DefaultValue(5)] public int Five { get; set; } = 5;
        [DataMember(Order = 2, IsRequired = true), DefaultValue(5)] public int Required { get; set; } = 5;
        [DataMember(Order = 3)] public int Maybe { get; set; }
        [DataMember(Order = 4)] public int Count { get; set; }
        [ProtoMember(5, DataFormat = DataFormat.Group)] public Leg? Grouped { get; set; }
        [ProtoMember(6, DataFormat = DataFormat.Group)] public List<Leg> Groups { get; set; } = [];
        [ProtoMember(7), NullWrappedValue] public List<int?> Wrapped { get; set; } = [];
        [ProtoMember(8), NullWrappedCollection] public List<int>? WrappedList { get; set; }
        [DataMember(Order = 9), DefaultValue(0)] public int Zero { get; set; }
        [ProtoMember(10), ProtoMap(DisableMap = true)] public Dictionary<string, int> Pairs { get; set; } = [];

        [IgnoreDataMember]
        public bool CountSpecified { get; set; }

        public bool ShouldSerializeMaybe() => Maybe > 100;
    }

    // With both contracts, protobuf-net's own attributes count.
    [ProtoContract, DataContract]
    public sealed class BothAttributes
    {
        [ProtoMember(7), DataMember(Order = 1)] public int Seats { get; set; }
        [ProtoMember(4), DataMember(Order = 2)] public string? Flight { get; set; }
    }

    [DataContract]
    public sealed class Ignoring
    {
        [DataMember(Order = 1)] public int Sent { get; set; }
        [DataMember(Order = 2), ProtoIgnore] public int Kept { get; set; }
    }

    [ProtoContract(ImplicitFields = ImplicitFields.AllPublic)]
    public sealed class Implicit
    {
        public int First { get; set; }
        public string? Second { get; set; }
    }

    [ProtoContract(Surrogate = typeof(Stand))]
    public sealed class WithSurrogate
    {
        public int Value { get; init; }
    }

    [ProtoContract]
    public sealed class Stand
    {
        [ProtoMember(4)] public int Sent { get; set; }

        public static implicit operator Stand?(WithSurrogate? value) => value is null ? null : new Stand { Sent = value.Value };

        public static implicit operator WithSurrogate?(Stand? value) => value is null ? null : new WithSurrogate { Value = value.Sent };
    }

    [ProtoContract, ProtoInclude(3, typeof(Round)), ProtoInclude(4, typeof(Straight))]
    public interface IShape;

    [ProtoContract]
    public sealed class Round : IShape
    {
        [ProtoMember(1)] public double Radius { get; set; }
    }

    [ProtoContract]
    public sealed class Straight : IShape
    {
        [ProtoMember(1)] public double Side { get; set; }
    }

    [ProtoContract, ProtoInclude(3, typeof(Car))]
    public abstract class Vehicle
    {
        [ProtoMember(1)] public string? Plate { get; set; }
    }

    [ProtoContract]
    public sealed class Car : Vehicle
    {
        [ProtoMember(1)] public int Doors { get; set; }
    }
}
