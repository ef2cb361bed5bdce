using System.Runtime.Serialization;

namespace QuickSilver.Tool.Perf.Payloads;

internal enum FlightStatus
{
    Scheduled,
    Boarding,
    Departed,
    Cancelled,
}

// A flight that leaves, in about 150 bytes, for receivers that must not allocate: a struct without references. A string
// would be allocated by each receiver; short texts are packed into numbers instead (PackedText).
[DataContract]
internal record struct Departure
{
    [DataMember(Order = 1)]
    public long Number { get; set; }

    [DataMember(Order = 2)]
    public long SentAtTicks { get; set; }

    [DataMember(Order = 3)]
    public DateTime Scheduled { get; init; }

    [DataMember(Order = 4)]
    public DateTime Expected { get; init; }

    [DataMember(Order = 5)]
    public ulong Origin { get; init; }

    [DataMember(Order = 6)]
    public ulong Destination { get; init; }

    [DataMember(Order = 7)]
    public ulong Carrier { get; init; }

    [DataMember(Order = 8)]
    public ulong Flight { get; init; }

    [DataMember(Order = 9)]
    public ulong TailNumber { get; init; }

    [DataMember(Order = 10)]
    public ulong Aircraft { get; init; }

    [DataMember(Order = 11)]
    public ulong Gate { get; init; }

    [DataMember(Order = 12)]
    public FlightStatus Status { get; init; }

    [DataMember(Order = 13)]
    public int DistanceMiles { get; init; }

    [DataMember(Order = 14)]
    public int DelayMinutes { get; init; }

    [DataMember(Order = 15)]
    public int Seats { get; init; }

    [DataMember(Order = 16)]
    public int Passengers { get; init; }

    [DataMember(Order = 17)]
    public double FuelTons { get; init; }

    [DataMember(Order = 18)]
    public double TakeoffTons { get; init; }

    [DataMember(Order = 19)]
    public double Latitude { get; init; }

    [DataMember(Order = 20)]
    public double Longitude { get; init; }

    [DataMember(Order = 21)]
    public double SpeedKnots { get; init; }

    [DataMember(Order = 22)]
    public Guid Booking { get; init; }
}
