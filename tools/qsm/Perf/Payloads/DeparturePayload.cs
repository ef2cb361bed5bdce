namespace QuickSilver.Tool.Perf.Payloads;

// The flights in turn, as structs: these few, changed for each message.
internal readonly struct DeparturePayload() : IPerfPayload<Departure>
{
    private readonly Departure[] _flights = Flights.Packed();

    public ref readonly Departure Write(long sentAtTicks, long sequence)
    {
        ref var flight = ref _flights[(int)sequence & (Flights.Count - 1)];
        flight.Number = sequence;
        flight.SentAtTicks = sentAtTicks;
        return ref flight;
    }

    public static bool TryRead(in Departure message, out long sentAtTicks, out long sequence)
    {
        (sentAtTicks, sequence) = (message.SentAtTicks, message.Number);
        return true;
    }
}

// The flights in turn, as objects: these few, changed for each message.
internal readonly struct TextDeparturePayload() : IPerfPayload<TextDeparture>
{
    private readonly TextDeparture[] _flights = Flights.WithTexts();

    public ref readonly TextDeparture Write(long sentAtTicks, long sequence)
    {
        ref TextDeparture flight = ref _flights[(int)sequence & (Flights.Count - 1)];
        flight.Number = sequence;
        flight.SentAtTicks = sentAtTicks;
        return ref flight;
    }

    public static bool TryRead(in TextDeparture message, out long sentAtTicks, out long sequence)
    {
        (sentAtTicks, sequence) = (message.SentAtTicks, message.Number);
        return true;
    }
}
