using System.Runtime.Serialization;
using ProtoBuf;
using QuickSilver.Serialization;

namespace QuickSilver.ProtobufNet.Tests;

// What protobuf-net would refuse or lose at the first message is refused when the codec is made, by member.
public sealed class RefusalTests
{
    [Fact]
    public void A_type_that_protobuf_net_does_not_serialize_is_refused()
    {
        string refusal = RefusalOf<Unserializable>();
        Assert.Contains("Unserializable.Share has the type Half, which protobuf-net does not serialize. Use a float", refusal);
        Assert.Contains("Unserializable.Total has the type Int128", refusal);
        Assert.Contains("Unserializable.Maybe has the type UInt128", refusal);
        Assert.Contains(
            "Unserializable.At has the type DateTimeOffset, which protobuf-net does not serialize. Use a DateTime in UTC", refusal);
        Assert.Contains("Unserializable.Times has the type DateTimeOffset", refusal);
        Assert.DoesNotContain("Sound", refusal);
        Assert.Contains("pass a PayloadSchema", refusal);
    }

    [Fact]
    public void A_refused_feature_of_a_nested_type_is_refused_too() => Assert.Contains("Unserializable.Share", RefusalOf<Outer>());

    [Fact]
    public void An_initial_value_that_arrives_in_place_of_a_zero_is_refused()
    {
        string refusal = RefusalOf<Initialized>();
        Assert.Contains(
            "Initialized.Five is initially 5, and protobuf-net does not send 0, which would arrive as 5. Remove the initial value, or set "
            + "[DataMember(IsRequired = true)].",
            refusal);
        Assert.Contains("Initialized.Flag is initially True, and protobuf-net does not send False", refusal);
        Assert.Contains("Initialized.Text is initially \"x\", and protobuf-net does not send null", refusal);
        Assert.Contains("Initialized.Maybe is initially 5, and protobuf-net does not send null", refusal);
        Assert.Contains("Initialized.Numbers is initially a collection with elements, and protobuf-net does not send an empty", refusal);
        Assert.Contains("Initialized.ReadOnly is initially a read-only collection, to which protobuf-net cannot add", refusal);
        Assert.Contains("Initialized.Day is initially Friday, and protobuf-net does not send Sunday", refusal);
        foreach (string sound in (string[])["Required", "Empty", "At", "Overwritten", "Zero", "Leg", "Growing"])
        {
            Assert.DoesNotContain($"Initialized.{sound} ", refusal);
        }
    }

    [Fact]
    public void Subtypes_that_only_the_generator_knows_are_refused() => Assert.Contains(
        "Figure declares its subtypes with [Subtype], which protobuf-net does not know. Add [ProtoInclude(n, typeof(S))] with the same "
        + "numbers",
        RefusalOf<Figure>());

    [Fact]
    public void Members_of_a_base_that_does_not_declare_the_type_are_refused() => Assert.Contains(
        "Child inherits Parent.Name, which protobuf-net does not send. Add [ProtoInclude(n, typeof(Child))] to Parent", RefusalOf<Child>());

    [Fact]
    public void A_type_that_cannot_be_made_is_refused()
    {
        Assert.Contains("Positional has no parameterless constructor", RefusalOf<Positional>());
        Assert.Equal(2, new ProtobufNetCodec<Skipping>().Schema.Fields.Length);
        // Without attributes, the parameters of its constructor are its members, which the model does not describe.
        Assert.Empty(new ProtobufNetCodec<(int Left, string Right)>().Schema.Fields);
    }

    [Fact]
    public void A_schema_that_is_given_is_taken()
    {
        var schema = new PayloadSchema("Known elsewhere", PayloadSchema.MessageKind, []);
        Assert.Same(schema, new ProtobufNetCodec<Initialized>(schema).Schema);
    }

    private static string RefusalOf<T>() => Assert.Throws<NotSupportedException>(() => new ProtobufNetCodec<T>()).Message;

    [DataContract]
    public sealed class Unserializable
    {
        [DataMember(Order = 1)] public Half Share { get; set; }
        [DataMember(Order = 2)] public Int128 Total { get; set; }
        [DataMember(Order = 3)] public UInt128? Maybe { get; set; }
        [DataMember(Order = 4)] public DateTimeOffset At { get; set; }
        [DataMember(Order = 5)] public List<DateTimeOffset> Times { get; set; } = [];
        [DataMember(Order = 6)] public int Sound { get; set; }
    }

    [DataContract]
    public sealed class Outer
    {
        [DataMember(Order = 1)] public List<Unserializable> All { get; set; } = [];
    }

    [DataContract]
    public sealed class Initialized
    {
        [DataMember(Order = 1)] public int Five { get; set; } = 5;
        [DataMember(Order = 2)] public bool Flag { get; set; } = true;
        [DataMember(Order = 3)] public string? Text { get; set; } = "x";
        [DataMember(Order = 4)] public int? Maybe { get; set; } = 5;
        [DataMember(Order = 5)] public List<int> Numbers { get; set; } = [1];
        [DataMember(Order = 6)] public DayOfWeek Day { get; set; } = DayOfWeek.Friday;
        [DataMember(Order = 7, IsRequired = true)] public int Required { get; set; } = 5;
        [DataMember(Order = 8)] public string Empty { get; set; } = "";
        [DataMember(Order = 9)] public DateTime At { get; set; } = DateTime.UnixEpoch;
        [ProtoMember(10, OverwriteList = true)] public List<int> Overwritten { get; set; } = [1];
        [DataMember(Order = 11)] public int Zero { get; set; }
        [DataMember(Order = 12)] public Leg Leg { get; set; } = new();
        [DataMember(Order = 13)] public IReadOnlyList<int> ReadOnly { get; set; } = [];
        [DataMember(Order = 14)] public IReadOnlyList<int> Growing { get; set; } = new List<int>();
    }

    [Subtype(1, typeof(Dot))]
    public abstract class Figure;

    [DataContract]
    public sealed class Dot : Figure
    {
        [DataMember(Order = 1)] public int X { get; set; }
    }

    [ProtoContract]
    public class Parent
    {
        [ProtoMember(1)] public string? Name { get; set; }
    }

    [ProtoContract]
    public sealed class Child : Parent
    {
        [ProtoMember(1)] public int Age { get; set; }
    }

    [ProtoContract]
    public sealed record Positional([property: ProtoMember(1)] int X, [property: ProtoMember(2)] string Y);

    [ProtoContract(SkipConstructor = true)]
    public sealed record Skipping([property: ProtoMember(1)] int X, [property: ProtoMember(2)] string Y);
}
