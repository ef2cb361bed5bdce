using System.Runtime.Serialization;

namespace QuickSilver.Tool.Perf.Payloads;

// The same flight as most contracts would say it: a class, with strings. Each receiver allocates it and all of them.
[DataContract]
internal sealed record TextDeparture
{
    [DataMember(Order = 1)]
    public long Number { get; set; }

    [DataMember(Order = 2)]
    public long SentAtTicks { get; set; }

    [DataMember(Order = 3)]
    public required DateTime Scheduled { get; init; }

    [DataMember(Order = 4)]
    public required DateTime Expected { get; init; }

    [DataMember(Order = 5)]
    public required string Origin { get; init; }

    [DataMember(Order = 6)]
    public required string OriginName { get; init; }

    [DataMember(Order = 7)]
    public required string Destination { get; init; }

    [DataMember(Order = 8)]
    public required string DestinationName { get; init; }

    [DataMember(Order = 9)]
    public required string Carrier { get; init; }

    [DataMember(Order = 10)]
    public required string Flight { get; init; }

    [DataMember(Order = 11)]
    public required string TailNumber { get; init; }

    [DataMember(Order = 12)]
    public required string Gate { get; init; }

    [DataMember(Order = 13)]
    public required FlightStatus Status { get; init; }

    [DataMember(Order = 14)]
    public required int DistanceMiles { get; init; }

    [DataMember(Order = 15)]
    public required int DelayMinutes { get; init; }

    [DataMember(Order = 16)]
    public required double FuelTons { get; init; }
}
