using System.Runtime.Serialization;

namespace QuickSilver.Microbenchmarks.Serialization;

/// <summary>One flight that leaves, in about 150 bytes: the sample's contract with what a real board shows besides.</summary>
[DataContract]
public sealed record Departure(
    [property: DataMember(Order = 1)] long AtUnixMillis,
    [property: DataMember(Order = 2)] string Origin,
    [property: DataMember(Order = 3)] string Destination,
    [property: DataMember(Order = 4)] int DistanceMiles,
    [property: DataMember(Order = 5)] int DelayMinutes,
    [property: DataMember(Order = 6)] string Carrier,
    [property: DataMember(Order = 7)] string Flight,
    [property: DataMember(Order = 8)] string TailNumber,
    [property: DataMember(Order = 9)] string Gate,
    [property: DataMember(Order = 10)] string OriginName,
    [property: DataMember(Order = 11)] string DestinationName,
    [property: DataMember(Order = 12)] bool Boarding,
    [property: DataMember(Order = 13)] double FuelTons)
{
    public static Departure Example(long atUnixMillis) => new(
        atUnixMillis, "ORD", "SFO", 1846, 17, "United Airlines", "UA 412", "N37502", "C16",
        "Chicago O'Hare International", "San Francisco International", true, 18.25);
}
